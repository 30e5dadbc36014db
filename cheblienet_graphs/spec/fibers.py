"""Samples over each point, and lengths, in words.

A sample is the tuple of its coordinates: none, an angle in radians, or a unit vector.
"""

import math
from collections.abc import Sequence

import numpy as np

from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.typing import Floats

MINUS = "\N{MINUS SIGN}"
Sample = tuple[float, ...]


def samples_of(spec: GraphSpec) -> tuple[Sample, ...]:
    """The samples over each point of a graph, (n_o, f)."""
    return tuple(spec.fiber.samples(spec.orientations))


def field_spacings(spec: GraphSpec, level: int) -> Floats:
    """(fields,) spacing of a whole level along each field of the frame; of angles, the step."""
    spacings = np.full(len(spec.geometry.frame), math.sqrt(spec.squared_spacing(level)))
    if spec.geometry.fiber.cyclic:
        spacings[-1] = spec.geometry.fiber.step(spec.orientations)
    return spacings


def sample_noun(spec: GraphSpec) -> str:
    """The name of a sample: 'orientation' or 'axis'."""
    return "orientation" if spec.axes is None else "axis"


def sample_nouns(spec: GraphSpec) -> str:
    """The name of several: 'orientations' or 'axes'."""
    return "orientations" if spec.axes is None else "axes"


def scaled_by(spec: GraphSpec) -> str:
    """The field that sets the cost of rotation: 'xi', 'alpha' or 'in_plane_fraction'."""
    return {"alpha": "alpha", "auto": "in_plane_fraction"}.get(str(spec.xi), "xi")


def angle_in_words(angle: float) -> str:
    """'-60°' of radians, with a proper minus."""
    return f"{math.degrees(angle):.4g}°".replace("-", MINUS)


def vector_in_words(vector: Sequence[float]) -> str:
    """'(0, 0.71, -0.71)' with proper minus signs."""
    parts = [f"{round(part, 2) + 0.0:g}" for part in vector]
    return f"({', '.join(parts)})".replace("-", MINUS)


def title(samples: Sequence[Sample], number: int, between: str = "\n") -> str:
    """A sample as the title of a picture: '-60°', or 'axis 3' over '(0, .71, -.71)'.

    Args:
        samples: all of them.
        number: of the sample, from 0.
        between: text between the number of an axis and its vector.
    """
    sample = samples[number]
    if len(sample) == 1:
        return angle_in_words(sample[0])
    return f"axis {number}{between}{vector_in_words(sample).replace('0.', '.')}"


def sample_phrase(spec: GraphSpec, number: int) -> str:
    """A sample in a sentence: 'orientation -60°', or 'axis 3, n = (0, .71, -.71)'."""
    called = title(samples_of(spec), number, ", n = ")
    return called if spec.axes is not None else f"orientation {called}"


def counting_sentence(spec: GraphSpec) -> str:
    """A sentence on how samples are counted."""
    if spec.axes is not None:
        return "Axes n = (x, y, z) are numbered from 0; n and -n are the same."
    if spec.geometry.base.flat:
        return "Angles count from x toward y, so clockwise."
    return "Angles count from south toward east."


def visible_unit(spec: GraphSpec) -> str:
    """The unit of lengths for readers: pixels, voxels, degrees, or mean spacings without a grid.

    Where the sides of voxels differ it is their geometric mean.
    """
    if not spec.geometry.base.flat:
        return "degrees of arc"
    if not spec.sampling_kind.regular:
        return "mean spacings"
    if spec.spacing is not None:
        return "mean voxel sides"
    return "pixels" if spec.geometry.base.dimension == 2 else "voxels"


def visible_length(spec: GraphSpec, level: int, length: float) -> float:
    """A length in the visible unit; pixels are pixels of the level."""
    if not spec.geometry.base.flat:
        return math.degrees(length)
    return length / math.sqrt(spec.squared_spacing(level))


def per_radian(spec: GraphSpec, level: int, xi: float) -> str:
    """xi, the length that one radian of rotation counts for, in both units."""
    first = f"{xi:.4g} {spec.geometry.base.unit}" if spec.geometry.base.flat else f"{xi:.4g}"
    number = f"{visible_length(spec, level, xi):.3g}"
    name = visible_unit(spec)
    if number == "1":
        name = name.replace("degrees", "degree").removesuffix("s")
    return f"{first} ({number} {name}) per radian"
