/* The model behind an FMU: see core.h. */
#include "core.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_STEPS 1e9 /* inner steps of a communication step */

static void copy(double *to, const double *from, int count)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

void model_start(Model *m)
{
    memset(m, 0, sizeof *m);
    m->step = MODEL_STEP;
    copy(m->state, model_states, MODEL_STATES);
    copy(m->input, model_inputs, MODEL_INPUTS);
    copy(m->parameter, model_parameters, MODEL_PARAMETERS);
    copy(m->memory, model_memory, MODEL_MEMORY);
    copy(m->carried, model_carried, MODEL_CARRIED);
    m->parameters_changed = m->values_changed = m->carried_changed = 1;
}

static void prepare(Model *m)
{
    if (!m->parameters_changed) return;
    model_rates_setup(m->parameter, m->rates_constants);
    model_step_setup(m->parameter, m->step_constants);
    m->parameters_changed = 0;
    m->values_changed = 1;
}

int model_evaluate(Model *m)
{
    prepare(m);
    if (!m->values_changed) return m->status;
    m->status = model_rates(m->state, m->memory, m->input, m->rates_constants, m->derivative, m->output, m->closed, m->settled,
                            m->margin);
    m->values_changed = 0;
    return m->status;
}

int model_settle(Model *m)
{
    const int status = model_evaluate(m);
    if (status == 0) {
        copy(m->state, m->settled, MODEL_STATES);
        model_accept(m);
        m->values_changed = m->carried_changed = 1;
    }
    return status;
}

void model_accept(Model *m)
{
    if (!m->values_changed && m->status == 0) copy(m->memory, m->closed, MODEL_MEMORY);
}

double *model_value(Model *m, unsigned reference)
{
    if (reference == 0u) return &m->time;
    if (reference < VR_DERIVATIVE) return &m->state[reference - VR_STATE];
    if (reference < VR_INPUT) return &m->derivative[reference - VR_DERIVATIVE];
    if (reference < VR_OUTPUT) return &m->input[reference - VR_INPUT];
    if (reference < VR_MARGIN) return &m->output[reference - VR_OUTPUT];
    if (reference < VR_PARAMETER) return &m->margin[reference - VR_MARGIN];
    if (reference < VR_STEP) return &m->parameter[reference - VR_PARAMETER];
    return reference == VR_STEP ? &m->step : NULL;
}

int model_is_computed(unsigned reference)
{
    return (reference >= VR_DERIVATIVE && reference < VR_INPUT) || (reference >= VR_OUTPUT && reference < VR_PARAMETER);
}

int model_left(Model *m)
{
    for (int k = 0; k < MODEL_MARGINS; ++k)
        if (m->margin[k] < 0.0) return k;
    return -1;
}

const char *model_wrong_length(const Model *m, double length)
{
    if (!(length > 0.0 && length <= DBL_MAX)) return "the communication step must be above 0 s";
    if (MODEL_CARRIED > 0 && !(length / m->step < MOST_STEPS))
        return "the communication step is a billion inner steps long: enlarge `step`";
    return NULL;
}

int model_advance(Model *m, double length)
{
    if (MODEL_CARRIED == 0) {
        m->time += length;
        return 0;
    }
    prepare(m);
    if (m->carried_changed) {
        copy(m->carried + MODEL_MEMORY_PLACE, m->memory, MODEL_MEMORY);
        for (int k = 0; k < MODEL_STATES; ++k) m->carried[model_state_places[k]] = m->state[k];
        m->carried[MODEL_CODE] = 0.0;
        m->carried_changed = 0;
    }
    const double ratio = length / m->step;
    const int steps = ratio > 1.0 ? (int)floor(ratio + 0.5) : 1;
    const double h = length / steps, begin = m->time;
    double table[MODEL_COLUMNS + 1] = {h}, final[MODEL_CARRIED + 1];
    for (int node = 0; node < MODEL_NODES; ++node) copy(table + MODEL_LEAD + node * MODEL_INPUTS, m->input, MODEL_INPUTS);
    int status = 0;
    for (int k = 0; k < steps && status == 0; ++k) {
        status = model_step(m->carried, table, m->step_constants, final);
        if (status == 0) status = (int)final[MODEL_CODE];
        if (status > 0) status += MODEL_STEP_STATUS;
        if (status != 0) break;
        copy(m->carried, final, MODEL_CARRIED);
        m->time = k + 1 == steps ? begin + length : begin + (k + 1) * h;
    }
    for (int k = 0; k < MODEL_STATES; ++k) m->state[k] = m->carried[model_state_places[k]];
    copy(m->memory, m->carried + MODEL_MEMORY_PLACE, MODEL_MEMORY);
    m->values_changed = 1;
    return status;
}

/* Where the derivative of a value lies among the results of the tangent, or NULL. */
static double *place(unsigned reference, double *states, double *derivatives, double *inputs, double *outputs, double *margins)
{
    if (reference == 0u) return NULL;
    if (reference < VR_DERIVATIVE) return states + (reference - VR_STATE);
    if (reference < VR_INPUT) return derivatives + (reference - VR_DERIVATIVE);
    if (reference < VR_OUTPUT) return inputs + (reference - VR_INPUT);
    if (reference < VR_MARGIN) return outputs + (reference - VR_OUTPUT);
    return reference < VR_PARAMETER ? margins + (reference - VR_MARGIN) : NULL;
}

int model_directional(Model *m, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns, size_t known_count,
                      const double *seed, double *sensitivity)
{
    double states[MODEL_STATES + 1] = {0.0}, inputs[MODEL_INPUTS + 1] = {0.0};
    double derivatives[MODEL_STATES + 1] = {0.0}, outputs[MODEL_OUTPUTS + 1] = {0.0}, margins[MODEL_MARGINS + 1] = {0.0};
    for (size_t k = 0; k < known_count; ++k) {
        double *at = model_is_computed(knowns[k]) ? NULL : place(knowns[k], states, NULL, inputs, NULL, NULL);
        if (at == NULL) return -100;
        *at += seed[k];
    }
    const int before = model_evaluate(m);
    if (before != 0) return before;
    /* iterations start where they ended: their derivative is then exact */
    const int status = model_tangent(m->state, m->closed, m->input, m->rates_constants, states, inputs, derivatives, outputs, margins);
    if (status != 0) return status;
    for (size_t k = 0; k < unknown_count; ++k) {
        const double *at = place(unknowns[k], states, derivatives, inputs, outputs, margins);
        if (at == NULL) return -100;
        sensitivity[k] = *at;
    }
    return 0;
}

int model_adjoint(Model *m, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns, size_t known_count,
                  const double *seed, double *sensitivity)
{
    const double one = 1.0;
    for (size_t k = 0; k < known_count; ++k) {
        sensitivity[k] = 0.0;
        for (size_t i = 0; i < unknown_count; ++i) {
            double column = 0.0;
            const int status = model_directional(m, &unknowns[i], 1, &knowns[k], 1, &one, &column);
            if (status != 0) return status;
            sensitivity[k] += seed[i] * column;
        }
    }
    return 0;
}
