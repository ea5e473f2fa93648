/* Systems of second order with bound coordinates: dense linear algebra in loops, and the implicit steps of `simulate`.
 *
 *   z'' = N u'' + beta,  N = 1 at the independent coordinates u, X at the bound ones,
 *   r = N^T (M (N u'' + beta) + f) = 0
 *
 * model_terms and model_matrices are generated; model_rates, model_tangent and model_step are made of them here. A method
 * without stages of its own has its model_step elsewhere (rk4.c). */
#include "core.h"

#include <math.h>
#include <string.h>

enum { Z = MODEL_ALL, U = MODEL_FREE, B = MODEL_BOUND, S = MODEL_STAGES };

typedef struct {
    double mass[Z * Z];
    double force[Z];
    double slope[B * U + 1];
    double drift[B + 1];
} Terms;

/* A complex symmetric matrix; after factorise: L below the diagonal, reciprocals of D on it. */
typedef struct {
    double re[U * U];
    double im[U * U];
} Matrix;

/* z = N u, and beta where it is given. */
static void spread(const double *slope, const double *u, const double *beta, double *z)
{
    for (int k = 0; k < U; ++k) z[model_free[k]] = u[k];
    for (int b = 0; b < B; ++b) {
        double sum = beta == NULL ? 0.0 : beta[b];
        for (int k = 0; k < U; ++k) sum += slope[b * U + k] * u[k];
        z[model_bound[b]] = sum;
    }
}

/* u = N^T f. */
static void gather(const double *slope, const double *f, double *u)
{
    for (int k = 0; k < U; ++k) {
        u[k] = f[model_free[k]];
        for (int b = 0; b < B; ++b) u[k] += slope[b * U + k] * f[model_bound[b]];
    }
}

/* y += A x, (z, z) by (z,). */
static void add_product(const double *A, const double *x, double *y)
{
    for (int i = 0; i < Z; ++i)
        for (int j = 0; j < Z; ++j) y[i] += A[i * Z + j] * x[j];
}

/* P = N^T A N, (u, u). */
static void project(const double *slope, const double *A, double *P)
{
    double row[U], half[Z * U];
    for (int i = 0; i < Z; ++i) gather(slope, A + i * Z, half + i * U);
    for (int k = 0; k < U; ++k) {
        memcpy(row, half + model_free[k] * U, sizeof row);
        for (int b = 0; b < B; ++b)
            for (int j = 0; j < U; ++j) row[j] += slope[b * U + k] * half[model_bound[b] * U + j];
        memcpy(P + k * U, row, sizeof row);
    }
}

/* A = L D L^T without pivots: safe where the real part is positive definite. */
static void factorise(Matrix *m)
{
    for (int i = 0; i < U; ++i) {
        double sr[U], si[U]; /* row i of L D */
        for (int j = 0; j <= i; ++j) {
            double *Lr = m->re + j * U, *Li = m->im + j * U, a = m->re[i * U + j], c = m->im[i * U + j];
            for (int k = 0; k < j; ++k) {
                a -= sr[k] * Lr[k] - si[k] * Li[k];
                c -= sr[k] * Li[k] + si[k] * Lr[k];
            }
            if (j == i) {
                const double size = a * a + c * c;
                Lr[i] = a / size;
                Li[i] = -c / size;
            } else {
                sr[j] = a;
                si[j] = c;
                m->re[i * U + j] = a * Lr[j] - c * Li[j];
                m->im[i * U + j] = a * Li[j] + c * Lr[j];
            }
        }
    }
}

static void solve(const Matrix *m, double *re, double *im)
{
    for (int i = 0; i < U; ++i)
        for (int k = 0; k < i; ++k) {
            const double a = m->re[i * U + k], c = m->im[i * U + k];
            re[i] -= a * re[k] - c * im[k];
            im[i] -= a * im[k] + c * re[k];
        }
    for (int i = 0; i < U; ++i) {
        const double a = re[i], c = im[i], p = m->re[i * U + i], q = m->im[i * U + i];
        re[i] = a * p - c * q;
        im[i] = a * q + c * p;
    }
    for (int i = U - 1; i >= 0; --i)
        for (int k = i + 1; k < U; ++k) {
            const double a = m->re[k * U + i], c = m->im[k * U + i];
            re[i] -= a * re[k] - c * im[k];
            im[i] -= a * im[k] + c * re[k];
        }
}

/* r = N^T (M (N a + beta) + f); the accelerations z'' and forces by all coordinates are kept. */
static void residual(const Terms *t, const double *a, double *z, double *f, double *r)
{
    spread(t->slope, a, t->drift, z);
    memcpy(f, t->force, sizeof t->force);
    add_product(t->mass, z, f);
    gather(t->slope, f, r);
}

/* Accelerations u'' (u,) of the terms, all of them z, forces f (z,) there, and the factors of N^T M N. */
static int accelerations(const Terms *t, Matrix *mass, double *a, double *z, double *f)
{
    double r[U], im[U];
    memset(a, 0, U * sizeof *a);
    residual(t, a, z, f, r);
    project(t->slope, t->mass, mass->re);
    memset(mass->im, 0, sizeof mass->im);
    factorise(mass);
    memset(im, 0, sizeof im);
    for (int k = 0; k < U; ++k) a[k] = -r[k];
    solve(mass, a, im);
    residual(t, a, z, f, r);
    for (int k = 0; k < U; ++k)
        if (!isfinite(a[k])) return MODEL_NONFINITE;
    return 0;
}

int model_rates(const double *state, const double *memory, const double *input, const double *constants, double *derivative,
                double *output, double *closed, double *settled, double *margin)
{
    Terms t;
    Matrix mass;
    double z[Z], f[Z];
    int status = model_terms(state, memory, input, constants, t.mass, t.force, t.slope, t.drift, output, closed, settled, margin);
    if (status == 0) status = accelerations(&t, &mass, derivative + U, z, f);
    if (status != 0) return status;
    memcpy(derivative, state + U, U * sizeof *derivative);
    for (int k = 0; k < MODEL_DRIVEN; ++k) output[MODEL_RESULTS + k] = z[model_driven[k]];
    return 0;
}

/* N^T M N du'' = -(dX^T f_b + N^T (dM z'' + M (dX u'' + d beta) + df)). */
int model_tangent(const double *state, const double *memory, const double *input, const double *constants,
                  const double *state_dot, const double *input_dot, double *derivative_dot, double *output_dot,
                  double *margin_dot)
{
    static const double none[U];
    Terms t, d;
    Matrix mass;
    double a[U], z[Z], f[Z], moved[Z], im[U], closed[MODEL_MEMORY + 1], settled[MODEL_STATES + 1], margin[MODEL_MARGINS + 1];
    double output[MODEL_OUTPUTS + 1], *da = derivative_dot + U;
    int status = model_terms(state, memory, input, constants, t.mass, t.force, t.slope, t.drift, output, closed, settled, margin);
    if (status == 0)
        status = model_terms_tangent(state, memory, input, constants, state_dot, input_dot, d.mass, d.force, d.slope, d.drift,
                                     output_dot, margin_dot);
    if (status == 0) status = accelerations(&t, &mass, a, z, f);
    if (status != 0) return status;
    for (int b = 0; b < B; ++b)
        for (int k = 0; k < U; ++k) d.drift[b] += d.slope[b * U + k] * a[k];
    spread(t.slope, none, d.drift, moved);
    add_product(d.mass, z, d.force);
    add_product(t.mass, moved, d.force);
    gather(t.slope, d.force, da);
    for (int k = 0; k < U; ++k)
        for (int b = 0; b < B; ++b) da[k] += d.slope[b * U + k] * f[model_bound[b]];
    memset(im, 0, sizeof im);
    for (int k = 0; k < U; ++k) da[k] = -da[k];
    solve(&mass, da, im);
    memcpy(derivative_dot, state_dot + U, U * sizeof *derivative_dot);
    spread(t.slope, da, d.drift, moved);
    for (int k = 0; k < MODEL_DRIVEN; ++k) output_dot[MODEL_RESULTS + k] = moved[model_driven[k]];
    return 0;
}

#if MODEL_STAGES > 0
/* Factors of M + h l D + (h l)^2 K for an eigenvalue l of the method. */
static void iteration_matrix(const double *eigen, double h, const double *M, const double *D, const double *K, Matrix *m)
{
    const double re = h * eigen[0], im = h * eigen[1], re2 = re * re - im * im, im2 = 2.0 * re * im;
    for (int k = 0; k < U * U; ++k) {
        m->re[k] = M[k] + re * D[k] + re2 * K[k];
        m->im[k] = im * D[k] + im2 * K[k];
    }
    factorise(m);
}

/* delta (s, u): solution for all stages, in the eigenvectors of the method; eigen: value, weight, row, column. */
static void correction(const Matrix *factors, double right[S][U], double delta[S][U])
{
    memset(delta, 0, sizeof(double[S][U]));
    for (int e = 0; e < MODEL_EIGEN; ++e) {
        const double *eigen = model_eigen[e], *row = eigen + 3, *column = row + 2 * S;
        double re[U] = {0.0}, im[U] = {0.0};
        for (int s = 0; s < S; ++s)
            for (int k = 0; k < U; ++k) {
                re[k] += row[s] * right[s][k];
                im[k] += row[S + s] * right[s][k];
            }
        solve(&factors[e], re, im);
        for (int s = 0; s < S; ++s)
            for (int k = 0; k < U; ++k) delta[s][k] += eigen[2] * (column[s] * re[k] - column[S + s] * im[k]);
    }
}

/* h A x of stages (s, u). */
static void sums(double h, double rate[S][U], double x[S][U])
{
    for (int i = 0; i < S; ++i)
        for (int k = 0; k < U; ++k) {
            x[i][k] = 0.0;
            for (int j = 0; j < S; ++j) x[i][k] += h * model_A[i * S + j] * rate[j][k];
        }
}

typedef struct {
    const double *state, *memory, *input, *constants;
    double h, stiffness[U * U];
    Matrix factors[MODEL_EIGEN];
} Step;

/* Residuals r (s, u) at rates X and accelerations V of the stages; x and v are increments there. */
static int stages(const Step *p, double x[S][U], double v[S][U], double V[S][U], double r[S][U])
{
    Terms t;
    double at[MODEL_STATES], z[Z], f[Z];
    double output[MODEL_OUTPUTS + 1], closed[MODEL_MEMORY + 1], settled[MODEL_STATES + 1], margin[MODEL_MARGINS + 1];
    for (int s = 0; s < S; ++s) {
        for (int k = 0; k < U; ++k) {
            at[k] = p->state[k] + x[s][k];
            at[U + k] = p->state[U + k] + v[s][k];
        }
        const int status = model_terms(at, p->memory, p->input, p->constants, t.mass, t.force, t.slope, t.drift, output, closed,
                                       settled, margin);
        if (status != 0) return status;
        residual(&t, V[s], z, f, r[s]);
    }
    return 0;
}

/* One pass of simplified Newton's method; its size is below 1 where nothing changes any more. */
static int pass(const Step *p, double X[S][U], double V[S][U], double *size)
{
    const double h = p->h, *v0 = p->state + U;
    double x[S][U], v[S][U], off[S][U], r[S][U], sum[S][U], delta[S][U];
    sums(h, X, x);
    sums(h, V, v);
    const int status = stages(p, x, v, V, r);
    if (status != 0) return status;
    for (int s = 0; s < S; ++s)
        for (int k = 0; k < U; ++k) off[s][k] = X[s][k] - v0[k] - v[s][k];
    sums(h, off, sum);
    for (int s = 0; s < S; ++s)
        for (int i = 0; i < U; ++i) {
            r[s][i] = -r[s][i];
            for (int k = 0; k < U; ++k) r[s][i] += p->stiffness[i * U + k] * sum[s][k];
        }
    correction(p->factors, r, delta);
    sums(h, delta, sum);
    *size = 0.0;
    for (int k = 0; k < U; ++k) {
        double norm = 0.0, change = 0.0;
        for (int s = 0; s < S; ++s) {
            X[s][k] = v0[k] + v[s][k] + sum[s][k];
            V[s][k] += delta[s][k];
            norm += V[s][k] * V[s][k];
            change += h * h * delta[s][k] * delta[s][k] + off[s][k] * off[s][k];
        }
        const double scale = MODEL_ABSOLUTE + MODEL_RELATIVE * (fabs(v0[k]) + h * sqrt(norm));
        *size += change / (scale * scale);
    }
    *size = sqrt(*size);
    return 0;
}

/* State and memory lie one behind the other among the carried numbers, as in `state` and `closed`. */
int model_step(const double *carried, const double *table, const double *constants, double *final)
{
    Step p = {.state = carried, .input = table + MODEL_LEAD, .constants = constants, .h = table[0]};
    Terms t;
    Matrix mass;
    double a[U], z[Z], f[Z], K[Z * Z], D[Z * Z], M[U * U], damping[U * U], X[S][U], V[S][U], before = INFINITY;
    double output[MODEL_OUTPUTS + 1], closed[MODEL_MEMORY + 1], settled[MODEL_STATES + 1], margin[MODEL_MARGINS + 1];
    int status = model_terms(carried, carried + 2 * U, p.input, constants, t.mass, t.force, t.slope, t.drift, output, closed, settled,
                             margin);
    if (status != 0) return status;
    for (int k = 0; k < MODEL_MARGINS; ++k)
        if (margin[k] < 0.0) return MODEL_LEFT + k;
    status = accelerations(&t, &mass, a, z, f);
    if (status == 0) status = model_matrices(carried, closed, constants + MODEL_RATES_CONSTANTS, K, D);
    if (status != 0) return status;
    p.memory = closed;
    project(t.slope, t.mass, M);
    project(t.slope, D, damping);
    project(t.slope, K, p.stiffness);
    for (int e = 0; e < MODEL_EIGEN; ++e) iteration_matrix(model_eigen[e], p.h, M, damping, p.stiffness, &p.factors[e]);
    for (int s = 0; s < S; ++s)
        for (int k = 0; k < U; ++k) {
            X[s][k] = carried[U + k] + p.h * model_c[s] * a[k];
            V[s][k] = a[k];
        }
    for (int k = 0; k < MODEL_PASSES; ++k) {
        double size = 0.0;
        status = pass(&p, X, V, &size);
        if (status != 0) return status;
        if (size < 1.0 || (size < MODEL_ROUNDING && size > 0.9 * before)) {
            memcpy(final, carried, 2 * U * sizeof *final);
            memcpy(final + 2 * U, closed, MODEL_MEMORY * sizeof *final);
            final[MODEL_CODE] = 0.0;
            for (int s = 0; s < S; ++s)
                for (int i = 0; i < U; ++i) {
                    final[i] += p.h * model_b[s] * X[s][i];
                    final[U + i] += p.h * model_b[s] * V[s][i];
                }
            return 0;
        }
        before = size;
    }
    return MODEL_LOST;
}
#endif
