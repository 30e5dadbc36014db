"""Types that many modules share."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of a stage, its steps done, and its steps altogether; 0 and 0 where steps
are not counted."""
