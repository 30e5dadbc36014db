"""Types that many modules share."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Indices: TypeAlias = npt.NDArray[np.int64]

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the name of what is being done, the steps done, and all of them; 0 and 0 where there
is nothing to count."""
