"""Checks of arguments of public names, before anything is made of them.

A wrong kind is a TypeError, a wrong value a ValueError; messages begin with the argument's name.
"""

import math
from collections.abc import Collection, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_graphs.inputs.coordinates import unit_of
from cheblienet_models.errors import quoted

Given = TypeVar("Given")
Word = TypeVar("Word", bound=str)

LARGEST = 2**63 - 1
"""Integer that torch takes."""
HINTS = {
    "Pyramid": ', as open_store("graphs.zarr")["NAME"] is',
    "Graph": ", a level of a pyramid as pyramid.levels[0] is",
}
"""Hints on how to get an argument of a type."""
Sizes = tuple[int | str, ...]
VERTICES = "(batch, channels, vertices)"


def instance(name: str, given: object, kind: type[Given]) -> Given:
    """An argument of a class.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(given, kind):
        hint = HINTS.get(kind.__name__, "")
        raise TypeError(f"{name} must be a {kind.__name__}{hint}. Got {type(given).__name__}.")
    return given


def integer(name: str, given: object, least: int | None = None, most: float = math.inf) -> int:
    """An argument that counts something.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below the least one, above the most, or of more than 64 bits.
    """
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise TypeError(f"{name} must be an integer. Got {quoted(given)}.")
    count = int(given)
    if least is not None and not least <= count <= most:
        accepted = f"at least {least}" if most == math.inf else f"in [{least}, {most}]"
        raise ValueError(f"{name} must be {accepted}. Got {quoted(given)}.")
    if abs(count) > LARGEST:
        raise ValueError(f"{name} must be an integer of 64 bits. Got {quoted(given)}.")
    return count


def number(name: str, given: object) -> float:
    """An argument that measures something.

    Raises:
        TypeError: it is no real number.
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{name} must be a number. Got {quoted(given)}.")
    try:
        return float(given)
    except OverflowError:
        raise ValueError(
            f"{name} must be a number that a float holds. Got {quoted(given)}."
        ) from None


def flag(name: str, given: object) -> bool:
    """An argument that is true or false: other values would count as true without a word.

    Raises:
        TypeError: it is neither.
    """
    if not isinstance(given, bool | np.bool_):
        raise TypeError(f"{name} must be True or False. Got {quoted(given)}.")
    return bool(given)


def choice(name: str, given: object, accepted: Collection[Word], more: str = "") -> Word:
    """An argument that is one of some words.

    Raises:
        ValueError: it is another, or no word.
    """
    found = next((word for word in accepted if isinstance(given, str) and word == given), None)
    if found is None:
        *words, last = [*map(repr, accepted), *[more] * bool(more)]
        raise ValueError(f"{name} must be {', '.join(words)} or {last}. Got {quoted(given)}.")
    return found


def is_sequence(given: object) -> bool:
    """True if an argument is several things in order, which text is not."""
    return isinstance(given, Sequence) and not isinstance(given, str | bytes)


def real_array(name: str, given: object) -> npt.NDArray[np.float64]:
    """An argument of many numbers, as float64 on the CPU, copied.

    Raises:
        TypeError: it holds something else.
        ValueError: it is a tensor that is not dense, or has no values.
    """
    if isinstance(given, Tensor):
        check_values(name, given)
        given = given.detach().cpu().resolve_conj().resolve_neg()
        given = (given.double() if given.is_floating_point() else given).numpy()
    if (unit := unit_of(given)) is not None:
        raise TypeError(f"{name} must be numbers without a unit. Got the unit {quoted(unit)}.")
    try:
        array = np.array(given)
        if array.dtype.kind in "iuf":
            return array.astype(np.float64)
    except (ValueError, TypeError):  # rows of several lengths, or of several units
        pass
    raise TypeError(f"{name} must be numbers, as an array holds them. Got {quoted(given)}.")


def file_path(name: str, given: object) -> Path:
    """An argument that names a file or a folder.

    Raises:
        TypeError: it is neither text nor a Path.
    """
    if not isinstance(given, str | PathLike):
        raise TypeError(f"{name} must be a path, text or a Path. Got {quoted(given)}.")
    return Path(given)


def check_tensor(name: str, given: object) -> None:
    """Check that the signal of a layer or network is a dense tensor.

    Raises:
        TypeError: it is something else, such as a numpy array.
        ValueError: it is sparse, nested or quantized.
    """
    if not isinstance(given, Tensor):
        raise TypeError(
            f"{name} takes a torch.Tensor, as torch.from_numpy makes of an array. "
            f"Got {type(given).__name__}."
        )
    if not_dense(given):
        raise ValueError(f"{name} takes a dense tensor. Got {not_dense(given)}.")


def not_dense(x: Tensor) -> str:
    """The layout of a tensor that is not dense, and how to convert it; empty if it is dense."""
    if x.is_nested:
        return "a nested one: pad it with torch.nested.to_padded_tensor"
    if x.layout != torch.strided:
        return f"one of {x.layout}: convert with .to_dense()"
    return f"one of {x.dtype}: convert with .dequantize()" if x.is_quantized else ""


def check_values(name: str, given: object) -> None:
    """Check that a tensor is dense and that its values can be read.

    Raises:
        TypeError: it is no tensor.
        ValueError: it is sparse, nested or quantized, or on `meta`.
    """
    check_tensor(name, given)
    if isinstance(given, Tensor) and given.is_meta:
        raise ValueError(f"{name} takes a tensor with values. Got one on meta, which has none.")


def check_shape(
    name: str, x: Tensor, taken: Sequence[Sizes], words: str = "", remedy: str = ""
) -> None:
    """Check that a signal is a tensor of one of the shapes that something takes.

    Args:
        name: of what takes it, and where that is.
        x: the signal.
        taken: sizes of its dimensions, one or more: numbers, or letters for any size.
        words: what the dimensions are.
        remedy: a sentence that follows the message, after a space.

    Raises:
        TypeError: it is no tensor.
        ValueError: it is not dense, or has another shape.
    """
    check_tensor(name, x)
    if not any(_fits(x.shape, sizes) for sizes in taken):
        shapes = dict.fromkeys(f"({', '.join(map(str, sizes))})" for sizes in taken)
        means = f", that is {words}" if words else ""
        raise ValueError(
            f"{name} takes {' or '.join(shapes)}{means}. Got {tuple(x.shape)}.{remedy}"
        )


def _fits(shape: Sequence[int], sizes: Sizes) -> bool:
    return len(shape) == len(sizes) and all(
        isinstance(size, str) or size == own for size, own in zip(sizes, shape, strict=True)
    )


def check_signal(
    name: str,
    x: Tensor,
    sizes: Sizes | list[Sizes],
    on: torch.device | None = None,
    *,
    words: str = VERTICES,
    floating: bool = True,
    remedy: str = "",
) -> None:
    """Check that a signal has the sizes, the device and a dtype that a layer computes with.

    Args:
        name: of the layer, and where it is.
        x: the signal.
        sizes: of its dimensions: numbers, or letters for any size; in a list of one or more.
        on: the device of the layer's constants, where it has any.
        words: what the dimensions are.
        floating: whether fractions are taken; else every real dtype will do.
        remedy: a sentence that follows a message on the shape, after a space.

    Raises:
        TypeError: it is no tensor.
        ValueError: it is not dense, or has another shape, device or dtype.
    """
    check_shape(name, x, sizes if isinstance(sizes, list) else [sizes], words, remedy)
    if on is not None and x.device != on:
        raise ValueError(
            f"{name} takes a tensor on {on}, where its graph is. Got one on {x.device}; "
            "move either with .to()."
        )
    check_dtype(name, x, floating=floating)


def check_dtype(name: str, x: Tensor, *, floating: bool = True) -> None:
    """Check that a signal is of floating-point numbers, or at least of real ones.

    Raises:
        ValueError: it is not.
    """
    # torch does not add or promote types of 8 bits.
    tiny = x.is_floating_point() and x.element_size() == 1
    if tiny or x.is_complex() or (floating and not x.is_floating_point()):
        kind = "floating point" if floating else "real numbers"
        remedy = "give both parts" if x.is_complex() else "convert with .float()"
        if x.dtype == torch.uint8:  # of images
            remedy += " / 255"
        raise ValueError(f"{name} takes a tensor of {kind}. Got {x.dtype}: {remedy}.")
