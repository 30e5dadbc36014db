"""The samples over each point in words: orientations by their angle, axes by number and vector.

A sample is the tuple of its coordinates: none, an angle in radians, or a unit vector.
"""

import math
from collections.abc import Sequence

from cheblienet_graphs.manifolds.base import Fiber
from cheblienet_graphs.samplings.axes import axis_set
from cheblienet_graphs.spec import GraphSpec

MINUS = "\N{MINUS SIGN}"
Sample = tuple[float, ...]


def fiber_of(spec: GraphSpec) -> Fiber:
    """The samples over each point, as a set."""
    return axis_set(spec.axes) if spec.axes else spec.geometry.fiber


def samples_of(spec: GraphSpec) -> tuple[Sample, ...]:
    """The samples over each point of a graph, (n_o, f)."""
    return tuple(fiber_of(spec).samples(spec.orientations))


def word(spec: GraphSpec) -> str:
    """The name of a sample: 'orientation' or 'axis'."""
    return "orientation" if spec.axes is None else "axis"


def words(spec: GraphSpec) -> str:
    """The name of several: 'orientations' or 'axes'."""
    return "orientations" if spec.axes is None else "axes"


def scaled_by(spec: GraphSpec) -> str:
    """The field that says how much of a step turns: 'xi', 'alpha' or 'in_plane_fraction'."""
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
        between: the number of an axis and its vector.
    """
    sample = samples[number]
    if len(sample) == 1:
        return angle_in_words(sample[0])
    return f"axis {number}{between}{vector_in_words(sample).replace('0.', '.')}"


def named(spec: GraphSpec, number: int) -> str:
    """A sample in a sentence: 'orientation -60°', or 'axis 3, n = (0, .71, -.71)'."""
    called = title(samples_of(spec), number, ", n = ")
    return called if spec.axes is not None else f"orientation {called}"


def counted(spec: GraphSpec) -> str:
    """How samples are counted, a sentence."""
    if spec.axes is not None:
        return "Axes n = (x, y, z) are numbered from 0; n and -n are the same."
    if spec.geometry.base.flat:
        return "Angles count from x toward y, so clockwise."
    return "Angles count from south toward east."
