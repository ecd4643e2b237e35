"""What every array of times is made of: int64 nanoseconds, and the moment that never comes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

NEVER = int(np.iinfo(np.int64).max)
