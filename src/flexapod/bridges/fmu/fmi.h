/* What both versions of FMI share: the instance, its log, and functions whose names take a prefix where sources of several
 * FMUs are linked into one program (FMI2_FUNCTION_PREFIX, FMI3_FUNCTION_PREFIX). */
#ifndef FLEXAPOD_FMI_H
#define FLEXAPOD_FMI_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.h"

#define FMI_JOIN_(a, b) a##b
#define FMI_JOIN(a, b) FMI_JOIN_(a, b)

#if defined(_WIN32)
#define FMI_EXPORT __declspec(dllexport)
#else
#define FMI_EXPORT
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* of what follows; kernels and core stay inside */
#endif

#endif
