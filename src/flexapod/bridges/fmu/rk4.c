/* The step of the classical Runge-Kutta method of order 4, as `simulate` has it:
 *
 *   k_j = f(x_0 + a_j h k_(j-1)),  x_1 = x_0 + h (k_1 + 2 k_2 + 2 k_3 + k_4) / 6
 *
 * Loops are closed at every stage, from where they were at the one before. */
#include "core.h"

#include <string.h>

/* State and memory lie one behind the other among the carried numbers. */
int model_step(const double *carried, const double *table, const double *constants, double *final)
{
    static const double argument[] = {0.0, 0.5, 0.5, 1.0}, weight[] = {1.0, 2.0, 2.0, 1.0};
    const double h = table[0], *input = table + MODEL_LEAD;
    double at[MODEL_STATES], rate[MODEL_STATES] = {0.0}, total[MODEL_STATES] = {0.0}, held[2][MODEL_MEMORY + 1];
    double output[MODEL_OUTPUTS + 1], settled[MODEL_STATES + 1], margin[MODEL_MARGINS + 1];
    const double *memory = carried + MODEL_STATES;
    for (int stage = 0; stage < 4; ++stage) {
        for (int k = 0; k < MODEL_STATES; ++k) at[k] = carried[k] + h * argument[stage] * rate[k];
        double *closed = held[stage % 2];
        const int status = model_rates(at, memory, input, constants, rate, output, closed, settled, margin);
        if (status != 0) return status;
        for (int k = 0; stage == 0 && k < MODEL_MARGINS; ++k)
            if (margin[k] < 0.0) return MODEL_LEFT + k;
        for (int k = 0; k < MODEL_STATES; ++k) total[k] += weight[stage] * rate[k];
        memory = closed;
    }
    for (int k = 0; k < MODEL_STATES; ++k) final[k] = carried[k] + h / 6.0 * total[k];
    memcpy(final + MODEL_STATES, memory, MODEL_MEMORY * sizeof *final);
    final[MODEL_CODE] = 0.0;
    return 0;
}
