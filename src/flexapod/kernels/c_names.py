"""Names in exported C: inputs and outputs keep theirs unless it means something else in C or in our text."""

from __future__ import annotations

import re

_KEYWORDS = frozenset({  # C99
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern",
    "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return", "short",
    "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void", "volatile",
    "while"
})  # fmt: skip
_FUNCTIONS = frozenset({  # used by our text
    "main", "printf", "isfinite", "isnan", "isinf", "signbit", "fabs", "fmin", "fmax", "sqrt", "floor",
    "ceil", "copysign", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "exp", "log", "expm1", "log1p", "pow", "fmod", "hypot", "NAN", "INFINITY"
})  # fmt: skip
_VARIABLES = frozenset({  # used by our text
    "parameters", "constants", "status", "expected_status", "failures", "i", "k"
})  # fmt: skip
_LOCAL = re.compile(r"(v|c|s|e|n|i|converged|passes)[0-9]+|(in|golden|a)_.*|_.*")


def c_name(prefix: str, name: str) -> str:
    """Name of an input or output in the export called `prefix`."""
    taken = name in _KEYWORDS | _FUNCTIONS | _VARIABLES or _LOCAL.fullmatch(name) or name.startswith(prefix)
    return f"a_{name}" if taken else name
