/* FMI 2.0, model exchange and co-simulation: every function of the standard. Names and types are those of the standard. */
#include "fmi.h"

#ifdef FMI2_FUNCTION_PREFIX
#define F(name) FMI_EXPORT FMI_JOIN(FMI2_FUNCTION_PREFIX, name)
#else
#define F(name) FMI_EXPORT name
#endif

#ifndef fmi2FunctionTypes_h
typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum { fmi2DoStepStatus, fmi2PendingStatus, fmi2LastSuccessfulTime, fmi2Terminated } fmi2StatusKind;
typedef void (*fmi2CallbackLogger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);
typedef void *(*fmi2CallbackAllocateMemory)(size_t, size_t);
typedef void (*fmi2CallbackFreeMemory)(void *);
typedef void (*fmi2StepFinished)(fmi2ComponentEnvironment, fmi2Status);
typedef struct {
    fmi2CallbackLogger logger;
    fmi2CallbackAllocateMemory allocateMemory;
    fmi2CallbackFreeMemory freeMemory;
    fmi2StepFinished stepFinished;
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded;
    fmi2Boolean terminateSimulation;
    fmi2Boolean nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged;
    fmi2Boolean nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;
#define fmi2True 1
#define fmi2False 0
#endif

typedef struct {
    Model model;
    const fmi2CallbackFunctions *functions;
    char name[128];
    int logging;
    int terminated;
} Instance;

static void say(Instance *i, fmi2Status status, const char *text)
{
    if (i->functions != NULL && i->functions->logger != NULL && (i->logging || status >= fmi2Error))
        i->functions->logger(i->functions->componentEnvironment, i->name, status, status >= fmi2Error ? "logStatusError" : "logEvents",
                             "%s", text);
}

/* An evaluation that fails is discarded: the importer may try a shorter step. */
static fmi2Status checked(Instance *i, int status)
{
    if (status == 0) return fmi2OK;
    say(i, status == -100 ? fmi2Error : fmi2Discard, model_status_text(status));
    return status == -100 ? fmi2Error : fmi2Discard;
}

static fmi2Status refused(Instance *i, const char *text)
{
    if (i != NULL) say(i, fmi2Error, text);
    return fmi2Error;
}

const char *F(fmi2GetTypesPlatform)(void) { return "default"; }

const char *F(fmi2GetVersion)(void) { return "2.0"; }

fmi2Status F(fmi2SetDebugLogging)(fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    (void)count;
    (void)categories;
    if (c == NULL) return fmi2Error;
    ((Instance *)c)->logging = on;
    return fmi2OK;
}

fmi2Component F(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                 const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)type;
    (void)resources;
    (void)visible;
    Instance *i = calloc(1, sizeof *i);
    if (i == NULL) return NULL;
    i->functions = functions;
    i->logging = logging;
    snprintf(i->name, sizeof i->name, "%s", name == NULL ? "" : name);
    if (guid == NULL || strcmp(guid, MODEL_TOKEN) != 0) {
        say(i, fmi2Error, "the GUID is not that of this FMU: modelDescription.xml and binary do not belong together");
        free(i);
        return NULL;
    }
    model_start(&i->model);
    return i;
}

void F(fmi2FreeInstance)(fmi2Component c) { free(c); }

fmi2Status F(fmi2SetupExperiment)(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start, fmi2Boolean has_stop,
                                  fmi2Real stop)
{
    (void)has_tolerance;
    (void)tolerance;
    (void)has_stop;
    (void)stop;
    if (c == NULL) return fmi2Error;
    ((Instance *)c)->model.time = start;
    return fmi2OK;
}

fmi2Status F(fmi2EnterInitializationMode)(fmi2Component c) { return c == NULL ? fmi2Error : fmi2OK; }

fmi2Status F(fmi2ExitInitializationMode)(fmi2Component c)
{
    if (c == NULL) return fmi2Error;
    const int status = model_settle(&((Instance *)c)->model);
    if (status == 0) return fmi2OK;
    return refused(c, model_status_text(status));
}

fmi2Status F(fmi2Terminate)(fmi2Component c) { return c == NULL ? fmi2Error : fmi2OK; }

fmi2Status F(fmi2Reset)(fmi2Component c)
{
    if (c == NULL) return fmi2Error;
    Instance *i = c;
    model_start(&i->model);
    i->terminated = 0;
    return fmi2OK;
}

fmi2Status F(fmi2GetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count, fmi2Real value[])
{
    Instance *i = c;
    if (i == NULL) return fmi2Error;
    for (size_t k = 0; k < count; ++k) {
        const double *at = model_value(&i->model, vr[k]);
        if (at == NULL) return refused(i, "fmi2GetReal: there is no variable with this value reference");
        if (model_is_computed(vr[k])) {
            const int status = model_evaluate(&i->model);
            if (status != 0) return checked(i, status);
        }
        value[k] = *at;
    }
    return fmi2OK;
}

fmi2Status F(fmi2SetReal)(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Real value[])
{
    Instance *i = c;
    if (i == NULL) return fmi2Error;
    for (size_t k = 0; k < count; ++k) {
        double *at = model_value(&i->model, vr[k]);
        if (at == NULL || vr[k] == 0u || model_is_computed(vr[k])) return refused(i, "fmi2SetReal: this variable cannot be set");
        if (!isfinite(value[k])) return refused(i, "fmi2SetReal: the value is not a finite number");
        if (vr[k] == VR_STEP && !(value[k] > 0.0)) return refused(i, "fmi2SetReal: step must be above 0 s");
        *at = value[k];
        if (vr[k] >= VR_PARAMETER && vr[k] < VR_STEP) i->model.parameters_changed = 1;
        if (vr[k] < VR_DERIVATIVE) i->model.carried_changed = 1;
        i->model.values_changed = 1;
    }
    return fmi2OK;
}

/* There are no variables of the other types. */
#define NONE_OF(type, Name)                                                                                               \
    fmi2Status F(fmi2Get##Name)(fmi2Component c, const fmi2ValueReference vr[], size_t count, type value[])                \
    {                                                                                                                     \
        (void)vr;                                                                                                         \
        (void)value;                                                                                                      \
        return c != NULL && count == 0 ? fmi2OK : refused(c, "fmi2Get" #Name ": this FMU has no variables of this type"); \
    }                                                                                                                     \
    fmi2Status F(fmi2Set##Name)(fmi2Component c, const fmi2ValueReference vr[], size_t count, const type value[])          \
    {                                                                                                                     \
        (void)vr;                                                                                                         \
        (void)value;                                                                                                      \
        return c != NULL && count == 0 ? fmi2OK : refused(c, "fmi2Set" #Name ": this FMU has no variables of this type"); \
    }
NONE_OF(fmi2Integer, Integer)
NONE_OF(fmi2Boolean, Boolean)
NONE_OF(fmi2String, String)

fmi2Status F(fmi2GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (c == NULL || state == NULL) return fmi2Error;
    if (*state == NULL) *state = malloc(sizeof(Model));
    if (*state == NULL) return refused(c, "fmi2GetFMUstate: out of memory");
    memcpy(*state, &((Instance *)c)->model, sizeof(Model));
    return fmi2OK;
}

fmi2Status F(fmi2SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    if (c == NULL || state == NULL) return fmi2Error;
    memcpy(&((Instance *)c)->model, state, sizeof(Model));
    ((Instance *)c)->terminated = 0;
    return fmi2OK;
}

fmi2Status F(fmi2FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (c == NULL) return fmi2Error;
    if (state != NULL) {
        free(*state);
        *state = NULL;
    }
    return fmi2OK;
}

fmi2Status F(fmi2SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    if (c == NULL || state == NULL || size == NULL) return fmi2Error;
    *size = sizeof(Model);
    return fmi2OK;
}

fmi2Status F(fmi2SerializeFMUstate)(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (c == NULL || state == NULL || bytes == NULL || size < sizeof(Model)) return refused(c, "fmi2SerializeFMUstate: too few bytes");
    memcpy(bytes, state, sizeof(Model));
    return fmi2OK;
}

fmi2Status F(fmi2DeSerializeFMUstate)(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (c == NULL || bytes == NULL || state == NULL || size != sizeof(Model))
        return refused(c, "fmi2DeSerializeFMUstate: these bytes are not a state of this FMU");
    if (*state == NULL) *state = malloc(sizeof(Model));
    if (*state == NULL) return refused(c, "fmi2DeSerializeFMUstate: out of memory");
    memcpy(*state, bytes, sizeof(Model));
    return fmi2OK;
}

fmi2Status F(fmi2GetDirectionalDerivative)(fmi2Component c, const fmi2ValueReference unknowns[], size_t unknown_count,
                                           const fmi2ValueReference knowns[], size_t known_count, const fmi2Real seed[],
                                           fmi2Real sensitivity[])
{
    if (c == NULL) return fmi2Error;
    return checked(c, model_directional(&((Instance *)c)->model, unknowns, unknown_count, knowns, known_count, seed, sensitivity));
}

fmi2Status F(fmi2EnterEventMode)(fmi2Component c) { return c == NULL ? fmi2Error : fmi2OK; }

fmi2Status F(fmi2NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    if (c == NULL || info == NULL) return fmi2Error;
    Instance *i = c;
    memset(info, 0, sizeof *info);
    const int status = model_evaluate(&i->model);
    if (status != 0) return checked(i, status);
    const int left = model_left(&i->model);
    if (left >= 0) {
        say(i, fmi2Warning, model_margin_texts[left]);
        info->terminateSimulation = fmi2True;
    }
    return fmi2OK;
}

fmi2Status F(fmi2EnterContinuousTimeMode)(fmi2Component c) { return c == NULL ? fmi2Error : fmi2OK; }

fmi2Status F(fmi2CompletedIntegratorStep)(fmi2Component c, fmi2Boolean no_set, fmi2Boolean *event_mode, fmi2Boolean *terminate)
{
    (void)no_set;
    if (c == NULL || event_mode == NULL || terminate == NULL) return fmi2Error;
    model_evaluate(&((Instance *)c)->model);
    model_accept(&((Instance *)c)->model);
    *event_mode = *terminate = fmi2False;
    return fmi2OK;
}

fmi2Status F(fmi2SetTime)(fmi2Component c, fmi2Real time)
{
    if (c == NULL) return fmi2Error;
    ((Instance *)c)->model.time = time;
    return fmi2OK;
}

fmi2Status F(fmi2SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t count)
{
    if (c == NULL || count != MODEL_STATES) return refused(c, "fmi2SetContinuousStates: wrong number of states");
    Instance *i = c;
    for (size_t k = 0; k < count; ++k) i->model.state[k] = x[k];
    i->model.values_changed = i->model.carried_changed = 1;
    return fmi2OK;
}

fmi2Status F(fmi2GetDerivatives)(fmi2Component c, fmi2Real derivatives[], size_t count)
{
    if (c == NULL || count != MODEL_STATES) return refused(c, "fmi2GetDerivatives: wrong number of states");
    Instance *i = c;
    const int status = model_evaluate(&i->model);
    for (size_t k = 0; k < count; ++k) derivatives[k] = i->model.derivative[k];
    return checked(i, status);
}

fmi2Status F(fmi2GetEventIndicators)(fmi2Component c, fmi2Real indicators[], size_t count)
{
    if (c == NULL || count != MODEL_MARGINS) return refused(c, "fmi2GetEventIndicators: wrong number of indicators");
    Instance *i = c;
    const int status = model_evaluate(&i->model);
    for (size_t k = 0; k < count; ++k) indicators[k] = i->model.margin[k];
    return checked(i, status);
}

fmi2Status F(fmi2GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t count)
{
    if (c == NULL || count != MODEL_STATES) return refused(c, "fmi2GetContinuousStates: wrong number of states");
    for (size_t k = 0; k < count; ++k) x[k] = ((Instance *)c)->model.state[k];
    return fmi2OK;
}

fmi2Status F(fmi2GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real nominals[], size_t count)
{
    if (c == NULL || count != MODEL_STATES) return refused(c, "fmi2GetNominalsOfContinuousStates: wrong number of states");
    for (size_t k = 0; k < count; ++k) nominals[k] = 1.0;
    return fmi2OK;
}

fmi2Status F(fmi2SetRealInputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer order[],
                                          const fmi2Real value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return c != NULL && count == 0 ? fmi2OK : refused(c, "fmi2SetRealInputDerivatives: inputs are held over a step");
}

fmi2Status F(fmi2GetRealOutputDerivatives)(fmi2Component c, const fmi2ValueReference vr[], size_t count, const fmi2Integer order[],
                                           fmi2Real value[])
{
    (void)vr;
    (void)order;
    (void)value;
    return c != NULL && count == 0 ? fmi2OK : refused(c, "fmi2GetRealOutputDerivatives: this FMU gives none");
}

fmi2Status F(fmi2DoStep)(fmi2Component c, fmi2Real now, fmi2Real length, fmi2Boolean no_set)
{
    (void)no_set;
    if (c == NULL) return fmi2Error;
    Instance *i = c;
    const char *wrong = model_wrong_length(&i->model, length);
    if (wrong != NULL) return refused(i, wrong);
    i->model.time = now;
    const int status = model_advance(&i->model, length);
    i->terminated = status != 0;
    return checked(i, status);
}

fmi2Status F(fmi2CancelStep)(fmi2Component c) { return refused(c, "fmi2CancelStep: steps are never pending"); }

fmi2Status F(fmi2GetStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind;
    (void)value;
    return refused(c, "fmi2GetStatus: steps are never pending");
}

fmi2Status F(fmi2GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (c == NULL || kind != fmi2LastSuccessfulTime) return refused(c, "fmi2GetRealStatus: only fmi2LastSuccessfulTime is known");
    *value = ((Instance *)c)->model.time;
    return fmi2OK;
}

fmi2Status F(fmi2GetIntegerStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    (void)value;
    return refused(c, "fmi2GetIntegerStatus: there is none");
}

fmi2Status F(fmi2GetBooleanStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (c == NULL || kind != fmi2Terminated) return refused(c, "fmi2GetBooleanStatus: only fmi2Terminated is known");
    *value = ((Instance *)c)->terminated;
    return fmi2OK;
}

fmi2Status F(fmi2GetStringStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    (void)value;
    return refused(c, "fmi2GetStringStatus: steps are never pending");
}
