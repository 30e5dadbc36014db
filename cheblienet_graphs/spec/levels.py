"""The levels of a specification's pyramid: their sizes, samplings and metrics."""

import math

from cheblienet_graphs.manifolds import MANIFOLDS, Manifold, Metric
from cheblienet_graphs.samplings import SAMPLINGS, SamplingKind, Setting, Size
from cheblienet_graphs.spec.mask import Mask


class Levels:
    """What follows, level by level, from the fields of a `GraphSpec`, which are read here alone."""

    manifold: str
    sampling: str
    seed: int | None
    boundary: str | None
    levels: int
    orientations: int
    axes: str | None
    spacing: tuple[float, ...] | None
    eps: float
    xi: "float | str | None"
    alpha: float | None
    mask: Mask | None

    @property
    def geometry(self) -> Manifold:
        """The manifold itself."""
        return MANIFOLDS[self.manifold]

    @property
    def sampling_kind(self) -> type[SamplingKind]:
        """The kind of sampling, which knows what its size means."""
        return SAMPLINGS[self.sampling]

    @property
    def vertices(self) -> tuple[int, ...]:
        """Vertices of each level, the finest first."""
        return tuple(self.orientations * self.base_points(level) for level in range(self.levels))

    @property
    def num_vertices(self) -> int:
        """Vertices of the finest level."""
        return self.vertices[0]

    def level_size(self, level: int) -> Size:
        """Size of the sampling of a level, 0 the finest: (width, height) on a lattice."""
        kind = self.sampling_kind
        return kind.sizes(getattr(self, kind.field))[level]

    def base_points(self, level: int) -> int:
        """Points of a level, orientations not counted; those inside where there is a mask."""
        return self.full_points(level) if self.mask is None else self.mask.inside[level]

    def full_points(self, level: int) -> int:
        """Points of a level's full sampling, orientations not counted."""
        return self.sampling_kind.points(self.level_size(level))

    def full_sampling(self, level: int) -> SamplingKind:
        """The sampling of a level, 0 the finest: all points, whatever the mask.

        Raises:
            SpecError: points are given, and the specification knows their digest alone.
        """
        setting = Setting(
            self.geometry,
            self.orientations,
            periodic=self.boundary == "periodic",
            seed=self.seed,
            finest=self.level_size(0),
            axes=self.axes,
            spacing=self.spacing,
        )
        return self.sampling_kind.sampled(self.level_size(level), setting)

    def grid(self, level: int) -> tuple[int, ...]:
        """(orientations, *shape of a signal on the base): (n_o, height, width) on a lattice.

        It is that of the full sampling where there is a mask.
        """
        return self.orientations, *self.sampling_kind.grid(self.level_size(level))

    def squared_spacing(self, level: int) -> float:
        """A, the mean area of the base for each point; on a lattice h^2 in any dimension.

        The domain of a flat base has width 1; h is the geometric mean of a voxel's sides.
        """
        squared = self.sampling_kind.squared_spacing(self.level_size(level), self.geometry.base)
        if self.spacing is None:
            return squared
        return squared * math.prod(self.spacing) ** (2 / len(self.spacing))

    def metric(self, level: int) -> Metric:
        """The metric of a level; on the plane lengths are in units of the domain's width.

        Raises:
            ValueError: xi is "auto", so it is known only once the graph is built.
        """
        if self.xi is None:
            return Metric(self.eps)
        if isinstance(self.xi, float):
            return Metric(
                self.eps, self.xi * math.sqrt(self.squared_spacing(level) / self.squared_spacing(0))
            )
        if self.alpha is None:
            raise ValueError("xi is solved for when the graph is built")
        return self.metric_of_alpha(self.alpha, level)

    def metric_of_alpha(self, alpha: float, level: int) -> Metric:
        """The metric with xi^2 = alpha n_o A, A the squared spacing of the points."""
        return Metric(self.eps, math.sqrt(alpha * self.orientations * self.squared_spacing(level)))
