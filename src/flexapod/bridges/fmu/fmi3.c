/* FMI 3.0, model exchange and co-simulation: every function of the standard. Names and types are those of the standard. */
#include "fmi.h"

#include <stdbool.h>

#ifdef FMI3_FUNCTION_PREFIX
#define F(name) FMI_EXPORT FMI_JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define F(name) FMI_EXPORT name
#endif

#ifndef fmi3FunctionTypes_h
typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef char fmi3Char;
typedef const fmi3Char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;
typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean,
                                               fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);
#endif

typedef struct {
    Model model;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool logging;
    bool early_return;
} Instance;

static void say(Instance *i, fmi3Status status, const char *text)
{
    if (i->log != NULL && (i->logging || status >= fmi3Error))
        i->log(i->environment, status, status >= fmi3Error ? "logStatusError" : "logEvents", text);
}

/* An evaluation that fails is discarded: the importer may try a shorter step. */
static fmi3Status checked(Instance *i, int status)
{
    if (status == 0) return fmi3OK;
    say(i, status == -100 ? fmi3Error : fmi3Discard, model_status_text(status));
    return status == -100 ? fmi3Error : fmi3Discard;
}

static fmi3Status refused(Instance *i, const char *text)
{
    if (i != NULL) say(i, fmi3Error, text);
    return fmi3Error;
}

static fmi3Instance made(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    Instance *i = calloc(1, sizeof *i);
    if (i == NULL) return NULL;
    i->environment = environment;
    i->log = log;
    i->logging = logging;
    if (token == NULL || strcmp(token, MODEL_TOKEN) != 0) {
        say(i, fmi3Error, "the instantiation token is not that of this FMU: modelDescription.xml and binary do not belong together");
        free(i);
        return NULL;
    }
    model_start(&i->model);
    return i;
}

const char *F(fmi3GetVersion)(void) { return "3.0"; }

fmi3Status F(fmi3SetDebugLogging)(fmi3Instance instance, fmi3Boolean on, size_t count, const fmi3String categories[])
{
    (void)count;
    (void)categories;
    if (instance == NULL) return fmi3Error;
    ((Instance *)instance)->logging = on;
    return fmi3OK;
}

fmi3Instance F(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                             fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)name;
    (void)resources;
    (void)visible;
    return made(token, logging, environment, log);
}

fmi3Instance F(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                            fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
                                            const fmi3ValueReference intermediate[], size_t intermediate_count,
                                            fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                            fmi3IntermediateUpdateCallback update)
{
    (void)name;
    (void)resources;
    (void)visible;
    (void)event_mode;
    (void)intermediate;
    (void)intermediate_count;
    (void)update;
    Instance *i = made(token, logging, environment, log);
    if (i != NULL) i->early_return = early_return;
    return i;
}

fmi3Instance F(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                  fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                  fmi3ClockUpdateCallback clock, fmi3LockPreemptionCallback lock,
                                                  fmi3UnlockPreemptionCallback unlock)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)clock;
    (void)lock;
    (void)unlock;
    if (log != NULL) log(environment, fmi3Error, "logStatusError", "this FMU has no clocks to schedule: use model exchange or co-simulation");
    return NULL;
}

void F(fmi3FreeInstance)(fmi3Instance instance) { free(instance); }

fmi3Status F(fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
                                          fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_tolerance;
    (void)tolerance;
    (void)has_stop;
    (void)stop;
    if (instance == NULL) return fmi3Error;
    ((Instance *)instance)->model.time = start;
    return fmi3OK;
}

fmi3Status F(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    if (instance == NULL) return fmi3Error;
    const int status = model_settle(&((Instance *)instance)->model);
    return status == 0 ? fmi3OK : refused(instance, model_status_text(status));
}

/* Changes of mode that need nothing. */
#define MODE(name) \
    fmi3Status F(name)(fmi3Instance instance) { return instance == NULL ? fmi3Error : fmi3OK; }
MODE(fmi3EnterEventMode)
MODE(fmi3Terminate)
MODE(fmi3EnterConfigurationMode)
MODE(fmi3ExitConfigurationMode)
MODE(fmi3EvaluateDiscreteStates)
MODE(fmi3EnterContinuousTimeMode)
MODE(fmi3EnterStepMode)

fmi3Status F(fmi3Reset)(fmi3Instance instance)
{
    if (instance == NULL) return fmi3Error;
    model_start(&((Instance *)instance)->model);
    return fmi3OK;
}

fmi3Status F(fmi3GetFloat64)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, fmi3Float64 values[], size_t value_count)
{
    Instance *i = instance;
    if (i == NULL || count != value_count) return refused(i, "fmi3GetFloat64: one value per value reference is expected");
    for (size_t k = 0; k < count; ++k) {
        const double *at = model_value(&i->model, vr[k]);
        if (at == NULL) return refused(i, "fmi3GetFloat64: there is no variable with this value reference");
        if (model_is_computed(vr[k])) {
            const int status = model_evaluate(&i->model);
            if (status != 0) return checked(i, status);
        }
        values[k] = *at;
    }
    return fmi3OK;
}

fmi3Status F(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, const fmi3Float64 values[],
                             size_t value_count)
{
    Instance *i = instance;
    if (i == NULL || count != value_count) return refused(i, "fmi3SetFloat64: one value per value reference is expected");
    for (size_t k = 0; k < count; ++k) {
        double *at = model_value(&i->model, vr[k]);
        if (at == NULL || vr[k] == 0u || model_is_computed(vr[k])) return refused(i, "fmi3SetFloat64: this variable cannot be set");
        if (!isfinite(values[k])) return refused(i, "fmi3SetFloat64: the value is not a finite number");
        if (vr[k] == VR_STEP && !(values[k] > 0.0)) return refused(i, "fmi3SetFloat64: step must be above 0 s");
        *at = values[k];
        if (vr[k] >= VR_PARAMETER && vr[k] < VR_STEP) i->model.parameters_changed = 1;
        if (vr[k] < VR_DERIVATIVE) i->model.carried_changed = 1;
        i->model.values_changed = 1;
    }
    return fmi3OK;
}

/* There are no variables of the other types. */
#define NONE_OF(type, Name)                                                                                                        \
    fmi3Status F(fmi3Get##Name)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, type values[], size_t values_count) \
    {                                                                                                                              \
        (void)vr;                                                                                                                  \
        (void)values;                                                                                                              \
        (void)values_count;                                                                                                        \
        return instance != NULL && count == 0 ? fmi3OK : refused(instance, "fmi3Get" #Name ": this FMU has no variables of this type"); \
    }                                                                                                                              \
    fmi3Status F(fmi3Set##Name)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, const type values[],            \
                                size_t values_count)                                                                               \
    {                                                                                                                              \
        (void)vr;                                                                                                                  \
        (void)values;                                                                                                              \
        (void)values_count;                                                                                                        \
        return instance != NULL && count == 0 ? fmi3OK : refused(instance, "fmi3Set" #Name ": this FMU has no variables of this type"); \
    }
NONE_OF(fmi3Float32, Float32)
NONE_OF(fmi3Int8, Int8)
NONE_OF(fmi3UInt8, UInt8)
NONE_OF(fmi3Int16, Int16)
NONE_OF(fmi3UInt16, UInt16)
NONE_OF(fmi3Int32, Int32)
NONE_OF(fmi3UInt32, UInt32)
NONE_OF(fmi3Int64, Int64)
NONE_OF(fmi3UInt64, UInt64)
NONE_OF(fmi3Boolean, Boolean)
NONE_OF(fmi3String, String)

fmi3Status F(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, size_t sizes[], fmi3Binary values[],
                            size_t value_count)
{
    (void)vr;
    (void)sizes;
    (void)values;
    (void)value_count;
    return instance != NULL && count == 0 ? fmi3OK : refused(instance, "fmi3GetBinary: this FMU has no variables of this type");
}

fmi3Status F(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, const size_t sizes[],
                            const fmi3Binary values[], size_t value_count)
{
    (void)vr;
    (void)sizes;
    (void)values;
    (void)value_count;
    return instance != NULL && count == 0 ? fmi3OK : refused(instance, "fmi3SetBinary: this FMU has no variables of this type");
}

/* There are no clocks. */
#define NO_CLOCK(name, ...)                                                                                            \
    fmi3Status F(name)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, __VA_ARGS__)                 \
    {                                                                                                                  \
        (void)vr;                                                                                                      \
        NO_CLOCK_USE                                                                                                   \
        return instance != NULL && count == 0 ? fmi3OK : refused(instance, #name ": this FMU has no clocks");           \
    }
#define NO_CLOCK_USE (void)a;
NO_CLOCK(fmi3GetClock, fmi3Clock a[])
NO_CLOCK(fmi3SetClock, const fmi3Clock a[])
NO_CLOCK(fmi3GetShiftDecimal, fmi3Float64 a[])
NO_CLOCK(fmi3SetIntervalDecimal, const fmi3Float64 a[])
NO_CLOCK(fmi3SetShiftDecimal, const fmi3Float64 a[])
#undef NO_CLOCK_USE
#define NO_CLOCK_USE (void)a; (void)b;
NO_CLOCK(fmi3GetIntervalDecimal, fmi3Float64 a[], fmi3IntervalQualifier b[])
NO_CLOCK(fmi3GetShiftFraction, fmi3UInt64 a[], fmi3UInt64 b[])
NO_CLOCK(fmi3SetIntervalFraction, const fmi3UInt64 a[], const fmi3UInt64 b[])
NO_CLOCK(fmi3SetShiftFraction, const fmi3UInt64 a[], const fmi3UInt64 b[])
#undef NO_CLOCK_USE
#define NO_CLOCK_USE (void)a; (void)b; (void)c;
NO_CLOCK(fmi3GetIntervalFraction, fmi3UInt64 a[], fmi3UInt64 b[], fmi3IntervalQualifier c[])

fmi3Status F(fmi3ActivateModelPartition)(fmi3Instance instance, fmi3ValueReference clock, fmi3Float64 time)
{
    (void)clock;
    (void)time;
    return refused(instance, "fmi3ActivateModelPartition: this FMU has no clocks");
}

/* Derivatives and outputs depend on all states and inputs; the lists of modelDescription.xml are complete. */
fmi3Status F(fmi3GetNumberOfVariableDependencies)(fmi3Instance instance, fmi3ValueReference vr, size_t *count)
{
    if (instance == NULL || count == NULL || !model_is_computed(vr))
        return refused(instance, "fmi3GetNumberOfVariableDependencies: this variable is not computed");
    *count = MODEL_STATES + MODEL_INPUTS;
    return fmi3OK;
}

fmi3Status F(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference dependent, size_t elements[],
                                          fmi3ValueReference independents[], size_t independent_elements[], fmi3DependencyKind kinds[],
                                          size_t count)
{
    if (instance == NULL || !model_is_computed(dependent) || count != MODEL_STATES + MODEL_INPUTS)
        return refused(instance, "fmi3GetVariableDependencies: this variable is not computed, or the number is wrong");
    const fmi3ValueReference states = MODEL_STATES;
    for (fmi3ValueReference k = 0; k < count; ++k) {
        elements[k] = independent_elements[k] = 0;
        independents[k] = k < states ? VR_STATE + k : VR_INPUT + (k - states);
        kinds[k] = fmi3Dependent;
    }
    return fmi3OK;
}

fmi3Status F(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (instance == NULL || state == NULL) return fmi3Error;
    if (*state == NULL) *state = malloc(sizeof(Model));
    if (*state == NULL) return refused(instance, "fmi3GetFMUState: out of memory");
    memcpy(*state, &((Instance *)instance)->model, sizeof(Model));
    return fmi3OK;
}

fmi3Status F(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState state)
{
    if (instance == NULL || state == NULL) return fmi3Error;
    memcpy(&((Instance *)instance)->model, state, sizeof(Model));
    return fmi3OK;
}

fmi3Status F(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *state)
{
    if (instance == NULL) return fmi3Error;
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
    return fmi3OK;
}

fmi3Status F(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState state, size_t *size)
{
    if (instance == NULL || state == NULL || size == NULL) return fmi3Error;
    *size = sizeof(Model);
    return fmi3OK;
}

fmi3Status F(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    if (instance == NULL || state == NULL || bytes == NULL || size < sizeof(Model))
        return refused(instance, "fmi3SerializeFMUState: too few bytes");
    memcpy(bytes, state, sizeof(Model));
    return fmi3OK;
}

fmi3Status F(fmi3DeserializeFMUState)(fmi3Instance instance, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    if (instance == NULL || bytes == NULL || state == NULL || size != sizeof(Model))
        return refused(instance, "fmi3DeserializeFMUState: these bytes are not a state of this FMU");
    if (*state == NULL) *state = malloc(sizeof(Model));
    if (*state == NULL) return refused(instance, "fmi3DeserializeFMUState: out of memory");
    memcpy(*state, bytes, sizeof(Model));
    return fmi3OK;
}

fmi3Status F(fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t unknown_count,
                                           const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                           size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    if (instance == NULL || seed_count != known_count || sensitivity_count != unknown_count)
        return refused(instance, "fmi3GetDirectionalDerivative: one seed per known and one result per unknown are expected");
    Model *m = &((Instance *)instance)->model;
    return checked(instance, model_directional(m, unknowns, unknown_count, knowns, known_count, seed, sensitivity));
}

fmi3Status F(fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference unknowns[], size_t unknown_count,
                                       const fmi3ValueReference knowns[], size_t known_count, const fmi3Float64 seed[],
                                       size_t seed_count, fmi3Float64 sensitivity[], size_t sensitivity_count)
{
    if (instance == NULL || seed_count != unknown_count || sensitivity_count != known_count)
        return refused(instance, "fmi3GetAdjointDerivative: one seed per unknown and one result per known are expected");
    Model *m = &((Instance *)instance)->model;
    return checked(instance, model_adjoint(m, unknowns, unknown_count, knowns, known_count, seed, sensitivity));
}

fmi3Status F(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals,
                                       fmi3Boolean *states, fmi3Boolean *has_next, fmi3Float64 *next)
{
    if (instance == NULL) return fmi3Error;
    Instance *i = instance;
    *again = *terminate = *nominals = *states = *has_next = false;
    *next = 0.0;
    const int status = model_evaluate(&i->model);
    if (status != 0) return checked(i, status);
    const int left = model_left(&i->model);
    if (left >= 0) {
        say(i, fmi3Warning, model_margin_texts[left]);
        *terminate = true;
    }
    return fmi3OK;
}

fmi3Status F(fmi3CompletedIntegratorStep)(fmi3Instance instance, fmi3Boolean no_set, fmi3Boolean *event_mode, fmi3Boolean *terminate)
{
    (void)no_set;
    if (instance == NULL || event_mode == NULL || terminate == NULL) return fmi3Error;
    model_evaluate(&((Instance *)instance)->model);
    model_accept(&((Instance *)instance)->model);
    *event_mode = *terminate = false;
    return fmi3OK;
}

fmi3Status F(fmi3SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    if (instance == NULL) return fmi3Error;
    ((Instance *)instance)->model.time = time;
    return fmi3OK;
}

fmi3Status F(fmi3SetContinuousStates)(fmi3Instance instance, const fmi3Float64 x[], size_t count)
{
    if (instance == NULL || count != MODEL_STATES) return refused(instance, "fmi3SetContinuousStates: wrong number of states");
    Instance *i = instance;
    for (size_t k = 0; k < count; ++k) i->model.state[k] = x[k];
    i->model.values_changed = i->model.carried_changed = 1;
    return fmi3OK;
}

fmi3Status F(fmi3GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 derivatives[], size_t count)
{
    if (instance == NULL || count != MODEL_STATES) return refused(instance, "fmi3GetContinuousStateDerivatives: wrong number of states");
    Instance *i = instance;
    const int status = model_evaluate(&i->model);
    for (size_t k = 0; k < count; ++k) derivatives[k] = i->model.derivative[k];
    return checked(i, status);
}

fmi3Status F(fmi3GetEventIndicators)(fmi3Instance instance, fmi3Float64 indicators[], size_t count)
{
    if (instance == NULL || count != MODEL_MARGINS) return refused(instance, "fmi3GetEventIndicators: wrong number of indicators");
    Instance *i = instance;
    const int status = model_evaluate(&i->model);
    for (size_t k = 0; k < count; ++k) indicators[k] = i->model.margin[k];
    return checked(i, status);
}

fmi3Status F(fmi3GetContinuousStates)(fmi3Instance instance, fmi3Float64 x[], size_t count)
{
    if (instance == NULL || count != MODEL_STATES) return refused(instance, "fmi3GetContinuousStates: wrong number of states");
    for (size_t k = 0; k < count; ++k) x[k] = ((Instance *)instance)->model.state[k];
    return fmi3OK;
}

fmi3Status F(fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 nominals[], size_t count)
{
    if (instance == NULL || count != MODEL_STATES) return refused(instance, "fmi3GetNominalsOfContinuousStates: wrong number of states");
    for (size_t k = 0; k < count; ++k) nominals[k] = 1.0;
    return fmi3OK;
}

fmi3Status F(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    if (instance == NULL || count == NULL) return fmi3Error;
    *count = MODEL_MARGINS;
    return fmi3OK;
}

fmi3Status F(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    if (instance == NULL || count == NULL) return fmi3Error;
    *count = MODEL_STATES;
    return fmi3OK;
}

fmi3Status F(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference vr[], size_t count, const fmi3Int32 orders[],
                                       fmi3Float64 values[], size_t value_count)
{
    (void)vr;
    (void)orders;
    (void)values;
    (void)value_count;
    return instance != NULL && count == 0 ? fmi3OK : refused(instance, "fmi3GetOutputDerivatives: this FMU gives none");
}

/* A stroke that is left is a request to end the simulation: at the end of the step, or where its inner steps stopped. Other
 * failures of a step are discarded, unless the importer allows an early return. */
fmi3Status F(fmi3DoStep)(fmi3Instance instance, fmi3Float64 now, fmi3Float64 length, fmi3Boolean no_set, fmi3Boolean *event,
                         fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last)
{
    (void)no_set;
    if (instance == NULL) return fmi3Error;
    Instance *i = instance;
    *event = *terminate = *early = false;
    *last = now;
    const char *wrong = model_wrong_length(&i->model, length);
    if (wrong != NULL) return refused(i, wrong);
    i->model.time = now;
    const int status = model_advance(&i->model, length);
    *last = i->model.time;
    const int left = MODEL_MARGINS > 0 && model_evaluate(&i->model) == 0 ? model_left(&i->model) : -1;
    if (status == 0 && left < 0) return fmi3OK;
    *terminate = true;
    *early = status != 0 && i->early_return;
    if (left < 0 && !*early) return checked(i, status);
    say(i, fmi3Warning, left >= 0 ? model_margin_texts[left] : model_status_text(status));
    return status == 0 || *early ? fmi3OK : fmi3Warning; /* a warning: the end of the step is not reached, see `last` */
}
