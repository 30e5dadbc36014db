"""The values of an array, an image or a field that mean inside, whatever file it comes from."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.errors import MISSING, SpecError, quoted

Booleans: TypeAlias = npt.NDArray[np.bool_]
Values: TypeAlias = npt.NDArray[Any]

IMAGE_TYPES = (np.dtype(np.uint8), np.dtype(np.uint16))
"""Types of images, which use their whole range."""
TOLERANCE = 1e-6
"""Distance from 0, from 1 or from [0, 1] that is taken for rounding in float32."""
UNDECLARED = 1e15
"""Size from which numbers are no values: undeclared fill values, or infinity."""
PERCENT = ("%", "percent", "per cent", "pct")
OF_ONE = ("", "1", "(0 - 1)", "0-1", "0 to 1", "fraction", "dimensionless", "unitless", "none", "-")
"""Units, in lower case, of numbers that are shares of 100 and of 1."""
SAVE = "save booleans"


def ambiguous(what: str) -> SpecError:
    """The error of a mask with ambiguous values, with the reason: "holds NaN"."""
    accepted = f"such that its values say what is inside; this one {what}"
    return SpecError("mask", accepted, MISSING)


def inside_of_image(values: Values) -> Booleans:
    """Inside is True, or above half of the range: 128 and more of 8 bits, 32,768 and more of 16.

    Args:
        values: of any shape; bool, uint8 or uint16 of any byte order.

    Raises:
        SpecError: numbers that are 0 and 1, which are both below half of the range.
    """
    if values.dtype != np.bool_ and values.size and values.max() == 1:
        raise dim(values)
    return inside_of_array(values)


def inside_of_array(values: Values) -> Booleans:
    """Inside is True, or 1 of numbers that are 0 and 1, or else above half of an image's range.

    Args:
        values: of any shape; bool, numbers that are 0 and 1, or uint8 or uint16 of any byte order.

    Raises:
        SpecError: anything else, NaN too; an image of which no pixel is above half of its range.
    """
    check_numbers(values)
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise ambiguous("holds NaN; save booleans, such as numpy.isfinite(field)")
    if zeros_and_ones(values):
        return np.asarray(values > 0.5)
    if values.dtype.newbyteorder("=") in IMAGE_TYPES:
        check_bright(values)
        return np.asarray(values > np.iinfo(values.dtype).max // 2)
    held = f"holds {values.dtype} values other than 0 and 1, {spread(values)}; save booleans"
    if within(values):
        held = f"{held}, or on lattices give `mask_edge='cut'`"
    raise ambiguous(held)


def check_bright(values: Values) -> None:
    """Refuse an image without a pixel above half of its range: labels, or 12 bits in 16.

    Args:
        values: of any shape, uint8 or uint16 of any byte order.

    Raises:
        SpecError: it has none.
    """
    if values.max() <= np.iinfo(values.dtype).max // 2:
        raise dim(values)


def dim(values: Values) -> SpecError:
    """The error of an image with too low a range, with that range."""
    most = np.iinfo(values.dtype).max
    return ambiguous(
        f"holds {values.min()} to {values.max()} of a range to {most}, of which above half is "
        f"inside; scale it to {most}, or save booleans as .npy"
    )


def inside_of_field(values: Values, units: str = "", *, labels: bool = False) -> Booleans:
    """Inside is what a field of a model says, NaN being missing values.

    - Of booleans True; of numbers that are 0 and 1, or 0 and 100 %, or missing, the larger one.
    - Of fractions in [0, 1] or in percent, as land-sea masks have, above one half.
    - Of other fields what is not missing, as the sea is in a field of temperatures.

    Args:
        values: of any shape.
        units: of these; fractions have none, "1" or "%".
        labels: whether numbers stand for kinds, as `flag_values` do.

    Raises:
        SpecError: a field that is not clearly one of these, as fractions are of which some are
            missing; or one with infinite or huge values, which nothing calls missing.
    """
    check_numbers(values)
    missing = np.isnan(values)
    valid = values[~missing]
    if not valid.size:
        raise ambiguous("has missing values alone")
    low, high = float(valid.min()), float(valid.max())
    of = units.strip().lower()
    whole = 100 if of in PERCENT else 1
    lost = f"{missing.sum():,} of {missing.size:,} missing"
    seen = f"holds {spread(valid)}, units {quoted(units) if of else 'none'}, {lost}"
    if max(-low, high) >= UNDECLARED:
        raise ambiguous(f"{seen}: infinite or huge values that no attribute calls missing; {SAVE}")
    shares = valid / whole
    if zeros_and_ones(shares):
        return np.asarray(values > whole / 2)
    fractions = of in OF_ONE or (whole == 100 and high > 1 + TOLERANCE)
    if not missing.any():
        if fractions and within(shares):
            return np.asarray(values > whole / 2)
        raise ambiguous(f"{seen}: it is no fraction, and nothing says what is inside; {SAVE}")
    if whole == 100 or (of in OF_ONE and low > -1 and high < 2):
        raise ambiguous(f"{seen}: missing values and fractions, so inside is either; {SAVE}")
    if labels or (not of and zeros_and_ones(np.array([low, high]) / 100)):
        kind = "labels" if labels else "what may be percent"
        raise ambiguous(f"{seen}: missing values and {kind}, so inside is either; {SAVE}")
    return ~missing


def spread(values: Values) -> str:
    """The range of numbers in words: '0 to 3', or '0 to 3 and NaN'."""
    missing = np.isnan(values)
    known = values[~missing]
    ends = [f"{known.min():.8g} to {known.max():.8g}"] if known.size else []
    return " and ".join([*ends, *["NaN"] * bool(missing.any())])


def check_numbers(values: Values) -> None:
    """Refuse what holds no numbers.

    Raises:
        SpecError: it does not.
    """
    if values.dtype.kind not in "biuf":
        raise ambiguous(f"holds {values.dtype} values; save booleans")


def zeros_and_ones(values: Values) -> bool:
    """Check whether numbers are 0 and 1, up to the rounding of float32."""
    if values.dtype.kind != "f":
        return bool(((values == 0) | (values == 1)).all())
    return bool((np.minimum(np.abs(values), np.abs(values - 1)) <= TOLERANCE).all())


def within(values: Values) -> bool:
    """Check whether numbers are in [0, 1], up to the rounding of float32; NaN is not."""
    return bool(((values >= -TOLERANCE) & (values <= 1 + TOLERANCE)).all())
