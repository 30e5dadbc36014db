"""The plane R^2 and the space R^3 as groups of translations, isotropic."""

from collections.abc import Iterator

from cheblienet_graphs.manifolds.base import PLANE, SPACE, Metric
from cheblienet_graphs.manifolds.manifold import Diffusion, FlatManifold, Point


class Translations(FlatManifold):
    """Points of R^d; the distance is the Euclidean one (eps = 1)."""

    operator_in_words = "the Laplacian -div grad, per width^2"

    def logarithms(self, g: Point, h: Point) -> Iterator[Point]:
        """The displacement h - g, the only candidate."""
        yield tuple(end - start for start, end in zip(g, h, strict=True))

    def diffusion(self, _sample: tuple[float, ...], _metric: Metric) -> Diffusion:
        """Equally fast along all axes."""
        axes = range(self.base.dimension)
        return tuple((1.0, tuple(float(a == b) for b in axes)) for a in axes)


class R2(Translations):
    """Points (x, y)."""

    name = "r2"
    title = "R^2"
    columns = frame = ("x", "y")
    base = PLANE
    default_neighbors = 8
    selling_neighbors = 4
    anisotropic = "se2"
    coordinates_in_words = "x (right) and y (down) in widths of the {domain}"


class R3(Translations):
    """Points (x, y, z)."""

    name = "r3"
    title = "R^3"
    columns = frame = ("x", "y", "z")
    base = SPACE
    default_neighbors = 18
    selling_neighbors = 6
    coordinates_in_words = "x (width), y (height) and z (depth) in widths of the {domain}"
