"""The fibre of orientations over each point of the base."""

import math

import numpy as np
import numpy.typing as npt


def orientation_angles(orientations: int) -> npt.NDArray[np.float64]:
    """(n_o,) samples -pi/2 + k pi/n_o, radians in [-pi/2, pi/2)."""
    return np.array([-math.pi / 2 + k * math.pi / orientations for k in range(orientations)])
