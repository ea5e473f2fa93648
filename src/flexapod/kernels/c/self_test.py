"""Text of the exported self-test, with golden numbers, and of the page that says how to call the code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from flexapod.kernels.c.source import BANNER, Export, ascii_text
from flexapod.kernels.c.text import c_name, number
from flexapod.kernels.tape.signature import Output

if TYPE_CHECKING:
    from flexapod.arrays import Array

TOLERANCE = 1e-12  # relative to the largest entry: some thousand operations of rounding 1.1e-16 each
NOTHING = 1e-14  # of the largest number of all inputs and outputs: what is zero on paper, such as closing errors, is rounding


def test_text(export: Export) -> str:
    """Text of the self-test."""
    signature, name = export.tape.signature, export.name
    count = len(export.golden.status)
    lines = [f"/* {BANNER}: self-test of {name}. Prints ok and returns 0 if all golden numbers agree. */"]
    lines += [f'#include "{name}.h"', "", "#include <math.h>", "#include <stdio.h>", ""]
    for i in signature.inputs:
        lines += _table(f"in_{i.name}", np.asarray(export.inputs[i.name], dtype=float), count, i.size)
    for o in signature.outputs:
        lines += _table(f"golden_{o.name}", export.golden.outputs[o.name], count, o.size)
    codes = ", ".join(map(str, export.golden.status.tolist()))
    lines += [f"static const int expected_status[{max(count, 1)}] = {{{codes or 0}}};", ""]
    lines += ["int main(void)", "{", "    int failures = 0;"]
    lines += [f"    double constants[{max(export.tape.constants, 1)}];"]
    lines += [f"    {name}_setup({name}_parameters, constants);"]
    lines += [f"    for (int i = 0; i < {count}; ++i) {{"]
    lines += [f"        double {c_name(export.name, o.name)}[{o.size}];" for o in signature.outputs]
    given = [f"in_{i.name}[i]" for i in signature.inputs]
    call = ", ".join([*given, "constants", *(c_name(export.name, o.name) for o in signature.outputs)])
    lines += [f"        const int status = {name}({call});", "        if (status != expected_status[i]) {"]
    text = f"{name}_status_text(status)"
    lines += [f'            printf("sample %d: status %d (%s), expected %d\\n", i, status, {text}, expected_status[i]);']
    lines += [
        "            ++failures;",
        "            continue;",
        "        }",
        "        if (status != 0) continue;",
    ]
    everything = [*export.inputs.values(), *export.golden.outputs.values()]
    floor = NOTHING * max((_largest(values) for values in everything), default=0.0)
    for o in signature.outputs:
        bound = max(TOLERANCE * _largest(export.golden.outputs[o.name]), floor) or 1e-300
        lines += _comparison(o, c_name(export.name, o.name), bound)
    lines += ["    }", f'    if (failures == 0) printf("{name}: ok, {count} samples\\n");']
    return "\n".join([*lines, "    return failures != 0;", "}", ""])


def _largest(values: ArrayLike) -> float:
    """The largest finite number, by its size."""
    numbers = np.abs(np.asarray(values, dtype=float))
    return float(numbers[np.isfinite(numbers)].max(initial=0.0))


def _comparison(output: Output, name: str, bound: float) -> list[str]:
    return [
        f"        for (int k = 0; k < {output.size}; ++k) {{",
        f"            if (!(fabs({name}[k] - golden_{output.name}[i][k]) <= {number(bound)})) {{",
        f'                printf("sample %d: {output.name}[%d] = %.17g, expected %.17g\\n", i, k, {name}[k],',
        f"                       golden_{output.name}[i][k]);",
        "                ++failures;",
        "            }",
        "        }",
    ]


def _table(name: str, values: Array, count: int, size: int) -> list[str]:
    rows = values.reshape(count, size).tolist() or [[0.0] * size]
    lines = [f"    {{{', '.join(number(x) for x in row)}}}," for row in rows]
    return [f"static const double {name}[{max(count, 1)}][{size}] = {{", *lines, "};", ""]


def readme_text(export: Export) -> str:
    """Text of the page that says how to call the code."""
    signature, name = export.tape.signature, export.name
    buffers = [f"double {c_name(export.name, o.name)}[{o.size}];" for o in signature.outputs]
    given = [f"double {c_name(export.name, i.name)}[{i.size}];  /* {ascii_text(i.unit) or '-'} */" for i in signature.inputs]
    arrays = [c_name(export.name, i.name) for i in signature.inputs]
    call = ", ".join([*arrays, "constants", *(c_name(export.name, o.name) for o in signature.outputs)])
    body = "\n".join(f"    {line}" for line in [*given, *buffers])
    upper = name.upper()
    return f"""<!-- {BANNER} -->
# {name}

Portable C99 without allocation: `{name}.h`, `{name}.c`. Needs `<math.h>` only. Arrays are row-major doubles.

```
{signature}
```

- main part, per sample: {export.tape.operations}
- set-up part, per parameter set: {export.tape.setup_operations}

## In a control loop

```c
#include "{name}.h"

static double constants[{upper}_CONSTANTS + 1];

void start(void)
{{
    {name}_setup({name}_parameters, constants);  /* again whenever a parameter changes */
}}

void step(void)
{{
{body}
    /* ... fill the inputs ... */
    int status = {name}({call});
    if (status != {upper}_OK) {{
        /* outputs are NAN; {name}_status_text(status) says why */
    }}
}}
```

The functions keep no state: they may be called from several threads at once.

## Self-test

```
cc -std=c99 -O2 -Wall -Wextra -Werror {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test
```
"""
