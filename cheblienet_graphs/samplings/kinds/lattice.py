"""Pixels and voxels."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import SIDE
from cheblienet_graphs.manifolds.base import Base
from cheblienet_graphs.manifolds.fibre import Fibre, ListedAxes
from cheblienet_graphs.samplings.kinds.kind import SamplingKind, Setting, Size
from cheblienet_graphs.values import parsed

if TYPE_CHECKING:
    from cheblienet_graphs.samplings.protocol import Sampling


class LatticeKind(SamplingKind):
    """Pixels or voxels."""

    name = "lattice"
    field = "size"
    bases = ("plane", "space")
    regular = True

    def parse(self, size: object, base: Base) -> Size:
        """Take N, "WxH" or (W, H), in space N, "WxHxD" or (W, H, D)."""
        form, sides, shape = {
            2: ("WxH", "width and height", "(B, C, H, W)"),
            3: ("WxHxD", "width, height and depth", "(B, C, D, H, W)"),
        }[base.dimension]
        accepted = f"N or {form}, {sides} in {SIDE} ({form} is for image tensors {shape})"
        given: Sequence[object]
        if isinstance(size, str):
            given = size.lower().split("x")
        elif isinstance(size, Sequence):
            given = size
        else:
            given = (size,)
        try:
            numbers = [parsed(side) for side in given]
        except (ValueError, TypeError):
            raise SpecError("size", accepted, size) from None
        if len(numbers) == 1:
            numbers *= base.dimension
        inside = all(n.is_integer() and SIDE.low <= n <= SIDE.high for n in numbers)
        if len(numbers) != base.dimension or not inside:
            raise SpecError("size", accepted, size)
        return tuple(map(int, numbers))

    def points(self, size: Size) -> int:
        """The product of the sides."""
        return math.prod(size)

    def coarser(self, size: Size) -> Size | None:
        """Half of each side, where these come out whole and at least 2."""
        if any(side % 2 or side < 4 for side in size):
            return None
        return tuple(side // 2 for side in size)

    def grid(self, size: Size) -> tuple[int, ...]:
        """(height, width) or (depth, height, width)."""
        return tuple(reversed(size))

    def squared_spacing(self, size: Size, base: Base) -> float:
        """h^2, the width of the domain being 1."""
        del base
        return 1 / float(size[0]) ** 2

    def name_parts(self, size: Size) -> tuple[object, ...]:
        """The sides."""
        return tuple(size)

    def described(self, size: Size, seed: int | None) -> str:
        """'96 x 96 pixels (width x height)'."""
        del seed
        sides = ("width", "height", "depth")[: len(size)]
        cells = "pixels" if len(size) == 2 else "voxels"
        return f"{' x '.join(map(str, size))} {cells} ({' x '.join(sides)})"

    def sampled(self, size: Size, setting: Setting) -> "Sampling":
        """A lattice of this size."""
        from cheblienet_graphs.samplings.lattice import Lattice  # numpy: help does without

        fibre = setting.manifold.fibre if setting.axes is None else _axes(setting.axes)
        spacings = (setting.spacing or ())[::-1]
        return Lattice(self.grid(size), setting.orientations, fibre, setting.periodic, spacings)


def _axes(name: str) -> Fibre:
    """The fibre that a set of axes samples."""
    from cheblienet_graphs.samplings.axes import axis_set  # numpy: help does without

    known = axis_set(name)
    return ListedAxes(tuple(map(tuple, known.points.tolist())), tuple(known.areas.tolist()))
