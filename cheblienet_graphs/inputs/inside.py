"""Which values of a mask mean inside: the conventions of all files and arrays."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Booleans: TypeAlias = npt.NDArray[np.bool_]
Values: TypeAlias = npt.NDArray[Any]

IMAGE_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16))
"""Types whose whole range images use."""


class AmbiguousError(ValueError):
    """Values that don't say which are inside; the message says why, without a subject."""


def inside_of_image(values: Values) -> Booleans:
    """Inside is True, or above half of the range: 128 and more of 8 bits, 32,768 and more of 16.

    Args:
        values: of any shape; bool, uint8 or uint16 of any byte order.

    Raises:
        AmbiguousError: another type, or only 0 and 1, which are both below half of the range.
    """
    if values.dtype == np.bool_:
        return np.array(values, dtype=np.bool_)
    if values.dtype.newbyteorder("=") not in IMAGE_TYPES:
        raise AmbiguousError(f"holds {values.dtype} values, no 8-bit grey; save it as 8-bit grey")
    most = np.iinfo(values.dtype).max
    if values.size and values.max() == 1:
        raise AmbiguousError(
            f"holds 0 and 1 of a range to {most}, of which above half is inside; multiply it by "
            f"{most}, or save it as a boolean .npy"
        )
    inside: Booleans = values > most // 2
    return inside


def inside_of_array(values: Values) -> Booleans:
    """Inside is True, or 1 of numbers that are 0 and 1, or else above half of an image's range.

    Args:
        values: of any shape; bool, numbers that are 0 and 1, or as `inside_of_image`.

    Raises:
        AmbiguousError: anything else, NaN too.
    """
    if values.dtype.kind not in "biuf":
        raise AmbiguousError(f"holds {values.dtype} values; save booleans")
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise AmbiguousError("holds NaN; save booleans, such as numpy.isfinite(field)")
    if _zeros_and_ones(values):
        return np.asarray(values == 1)
    if values.dtype.newbyteorder("=") in IMAGE_TYPES:
        return inside_of_image(values)
    raise AmbiguousError(f"holds {values.dtype} values other than 0 and 1; save booleans")


def inside_of_field(values: Values) -> Booleans:
    """Inside is what a field of a model says, NaN being missing values.

    - Of booleans True; of numbers that are 0 and 1, or missing, 1.
    - Of fractions in [0, 1], as land-sea masks have, above one half.
    - Of other fields what is not missing, as the sea is in a field of temperatures.

    Raises:
        AmbiguousError: a field of neither kind, or fractions of which some are missing.
    """
    if values.dtype.kind not in "biuf":
        raise AmbiguousError(f"holds {values.dtype} values; save booleans")
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    missing = np.isnan(values)
    valid = values[~missing]
    if _zeros_and_ones(valid):
        return np.asarray(values == 1)
    if valid.min() < 0 or valid.max() > 1:
        if not missing.any():
            raise AmbiguousError(
                "has neither missing values nor values in [0, 1] alone, so nothing says what is "
                "inside; save booleans"
            )
        return ~missing
    if missing.any():
        raise AmbiguousError(
            "has missing values and fractions: inside may be where it is valid, or above one half; "
            "save booleans"
        )
    inside: Booleans = values > 0.5
    return inside


def _zeros_and_ones(values: Values) -> bool:
    return bool(((values == 0) | (values == 1)).all())
