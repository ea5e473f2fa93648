"""What is known of boxes of poses after one evaluation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Boxes (n,): proven inside, proven outside; `groups` (n, g) of limits that parts of a box need to look at again.

    `open` (n, m) are limits that are not certain, for the list of reasons.
    """

    inside: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    groups: NDArray[np.bool_]
    open: NDArray[np.bool_]
