/* The model behind an FMU, without any word of FMI: values by reference, evaluation, steps, derivatives.
 * Sizes, tables and kernels are in model.c, which is generated for one robot. */
#ifndef FLEXAPOD_CORE_H
#define FLEXAPOD_CORE_H

#include <stddef.h>

#include "model.h"

/* Value references: time, then these ranges one after the other. */
#define VR_STATE 1u
#define VR_DERIVATIVE (VR_STATE + MODEL_STATES)
#define VR_INPUT (VR_DERIVATIVE + MODEL_STATES)
#define VR_OUTPUT (VR_INPUT + MODEL_INPUTS)
#define VR_MARGIN (VR_OUTPUT + MODEL_OUTPUTS)
#define VR_PARAMETER (VR_MARGIN + MODEL_MARGINS)
#define VR_STEP (VR_PARAMETER + MODEL_PARAMETERS)
#define VR_END (VR_STEP + 1u)

/* One more than needed: C has no arrays of length zero. */
typedef struct {
    double time;
    double step;
    double state[MODEL_STATES + 1];
    double derivative[MODEL_STATES + 1];
    double input[MODEL_INPUTS + 1];
    double output[MODEL_OUTPUTS + 1];
    double margin[MODEL_MARGINS + 1];
    double parameter[MODEL_PARAMETERS + 1];
    double memory[MODEL_MEMORY + 1];  /* where iterations start */
    double closed[MODEL_MEMORY + 1];  /* where they ended */
    double settled[MODEL_STATES + 1]; /* the state on the loops of the robot */
    double carried[MODEL_CARRIED + 1];
    double rates_constants[MODEL_RATES_CONSTANTS + 1];
    double step_constants[MODEL_STEP_CONSTANTS + 1];
    int parameters_changed;
    int values_changed;
    int carried_changed;
    int status; /* of the last evaluation */
} Model;

/* Values as they were at the export. */
void model_start(Model *m);
/* Brings derivatives, outputs and margins up to date. Returns 0 or a status of the rates. */
int model_evaluate(Model *m);
/* Puts the state on the loops of the robot. Returns 0 or a status of the rates. */
int model_settle(Model *m);
/* What the iterations found becomes their next start. */
void model_accept(Model *m);
/* Where a value lies, or NULL. */
double *model_value(Model *m, unsigned reference);
/* 1 where a value has to be computed first. */
int model_is_computed(unsigned reference);
/* What is wrong with a length of time to advance by, or NULL: it is above zero, and its steps can be counted. */
const char *model_wrong_length(const Model *m, double length);
/* Advances by a length of time, in steps of at most about m->step. Returns 0, or a status of the step: time and state
 * are then those of the last step that succeeded. */
int model_advance(Model *m, double length);
/* Index of the first margin below zero, or -1. */
int model_left(Model *m);
/* sensitivity = d unknowns / d knowns * seed. Returns 0, a status of the rates, or -100 for a reference without derivative. */
int model_directional(Model *m, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns, size_t known_count,
                      const double *seed, double *sensitivity);
/* sensitivity = (d unknowns / d knowns)^T * seed. */
int model_adjoint(Model *m, const unsigned *unknowns, size_t unknown_count, const unsigned *knowns, size_t known_count,
                  const double *seed, double *sensitivity);
/* What a status of rates (1, 2, ...), of steps (above MODEL_STEP_STATUS) or of both (below 0) means. */
const char *model_status_text(int status);

#endif
