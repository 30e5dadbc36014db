"""Lifting an image to orientations by line filters: orientation scores."""

import math
from collections.abc import Callable, Sequence
from typing import Self

import torch
from torch import Tensor

from cheblienet_models.arguments import Sizes, check_dtype, check_signal, check_tensor, instance
from cheblienet_models.graphs.full_grid import FullGrid
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Recorded
from cheblienet_models.graphs.mapped import Mapped, recipe_of
from cheblienet_models.layers.wavelets import Kind, checked_lengths, filters, pairs, waves
from cheblienet_models.missing import check_known
from cheblienet_models.tensors import autocast_type, logical, vertex_major


class OrientedLift(Recorded):
    """Filter an image by lines along each of the graph's orientations: orientation scores U.

    U(x, theta) is large where a bright line through x runs along (cos theta, sin theta), the
    direction of A_1 at theta: x right, y down, theta from x toward y. Filters that are real and
    even know theta modulo pi. Nothing is trained; it is linear.

    On a graph with orientations modulo 2 pi each of them is one of a quadrature pair: its odd part
    has large scores where an edge runs along theta and the image is brighter on the side of theta +
    pi/2; half a turn on they have the other sign. So they do in a mirror image: networks of
    Laplacians, which commute with half turns of theta, take it for the same, networks with first
    derivatives do not.

    "cake" wavelets cut the Fourier disc into slices (Duits et al.; Bekkers et al. 2014, "A
    multi-orientation analysis approach to retinal vessel tracking"): cubic B-splines in the angle,
    pi / n_o apart, times a radial window that is 1 up to 0.8 pi radians a pixel and falls to 0 at
    pi. Frequencies below the Gaussian of the last length, 4 pixels, have no direction: each
    orientation gets the same share. So the sum over orientations and scales is the image with the
    window as its transfer function: `inverse` gives every image back with frequencies within 0.8 pi
    (0.4 periods a pixel), in any direction; beyond pi, in the square's corners, nothing is kept.
    "gabor" filters are pairs of Gaussians in the Fourier plane about the frequency of a wavelength,
    without a mean; they leave gaps, so there is no inverse.

    With an open boundary the image is continued by its mirror images, for ever; with a periodic one
    it is a torus. Both are exact: filters are applied in the basis of cosines, or cosines and
    sines, and truncated nowhere. A cake's reach about n_o / 3 times the last length, and nearer to
    an open boundary mirror images have a part in the scores. It takes about (n_o + 2) H W (H + W)
    multiplications a channel and scale.

    Equivariant, to rounding, under flips (but for odd filters), rotations by 180 degrees, the
    torus's shifts, and rotations by 90 degrees where these are whole steps of theta and the image
    is a square. Rotations by other steps of theta cost about 1 % of the scores away from
    boundaries, rotations between steps, to which scores have to be interpolated, up to 11 %
    (`benchmarks/lifts.py`).

    The largest score over orientations keeps crossings. Their sum does not: see `Project`.

    On a graph with a mask images are full, and finite outside of it, too, where the filters see
    them: NaN there is refused, as it would be in all scores. These are of the vertices inside.

    On the sphere there is none, as there is no Fourier plane to cut. What could be had are second
    derivatives of a smoothed field along each alpha. These give no field back, as their sum is its
    Laplacian, and they need a matrix over the surroundings of each point, which no store holds.
    `Lift` repeats.

    Args:
        graph: of SE(2), on a lattice.
        kind: "cake" or "gabor", the latter with orientations modulo pi alone.
        scales: a number S, for 4, 8, 16, ... pixels, or S lengths in pixels, ascending. Of a cake
            the standard deviations of Gaussians: rings are differences of one to the next, the
            first of 1. Of Gabor filters the wavelengths, about twice the width of a line.

    Attributes:
        check_finite: True; whether signals are searched for missing and infinite values, which
            would spread. On a GPU each call then waits for its queue: set it to False where
            something before has looked, as networks do.
        lengths: (S,) of the scales, finest first.
        handed: whether there are odd filters.

    Raises:
        TypeError: graph is something else, such as a whole pyramid.
        ValueError: the graph is not one of SE(2) on a lattice, or has an odd number of orientations
            modulo 2 pi; another kind, or Gabor filters modulo 2 pi; fewer scales than one, or
            lengths that do not ascend or are too short.

    Example:
        >>> pyramid = open_or_build(GraphSpec("se2", 16, orientations=4, levels=2), "graphs.zarr")
        >>> OrientedLift(pyramid.levels[0])(torch.randn(1, 1, 16, 16)).shape
        torch.Size([1, 1, 1024])
    """

    check_finite: bool = True

    def __init__(
        self, graph: Graph, kind: Kind = "cake", scales: int | Sequence[float] = 1
    ) -> None:
        super().__init__()
        _check_lattice(instance("graph", graph, Graph))
        self.kind, self.lengths = kind, checked_lengths(kind, scales)
        self.handed = graph.period > math.pi
        if self.handed and (kind != "cake" or graph.orientations % 2):
            raise ValueError(
                "OrientedLift modulo 2 pi takes kind='cake' and an even number of orientations, "
                f"whose opposites are among them. Got kind={kind!r} and {graph.orientations} on "
                f"{graph.label}: use Lift, which repeats a signal."
            )
        self.settings = {"kind": kind, "scales": list(self.lengths)}
        self.label, self.grid, self.num_vertices = graph.label, graph.grid, graph.num_vertices
        self.wavelets = Wavelets(graph, kind, self.lengths)
        self.grid_places = FullGrid(graph, "nested")

    @property
    def num_scales(self) -> int:
        """S, or 2 S with odd filters, the channels that it makes of one."""
        return len(self.lengths) * (1 + self.handed)

    @property
    def sizes(self) -> list[tuple[int, ...]]:
        """Shapes that an image may have after batch and channels."""
        _, height, width = self.grid
        return [(height, width), (height * width,)]

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) or (B, C, H W) -> (B, C S, V), channel c at scale s at place c S + s.

        S is the number of scales, the finest first; where there are odd filters there are twice as
        many channels, (B, C 2 S, V), the even filters' of all scales before the odd ones'. In the
        dtype of x, computed in the wider of it and float32, also under autocast; differentiable.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape or device, or no floating-point dtype.
        """
        sizes: list[Sizes] = [("B", "C", *size) for size in self.sizes]
        device = self.wavelets.even.device
        name = f"OrientedLift on {self.label}"
        check_signal(name, x, sizes, device, words="an image")
        if self.check_finite:
            check_known(name, x)
        batch, channels = x.shape[:2]
        with torch.autocast(autocast_type(x), enabled=False):
            scores = self.wavelets(x.reshape(batch, channels, *self.grid[1:])).flatten(4)
        fibers = self.grid_places.inside(scores).to(x.dtype).permute(3, 4, 0, 1, 2).contiguous()
        return logical(fibers.view(self.num_vertices, batch, channels * self.num_scales))

    def inverse(self, scores: Tensor) -> Tensor:
        """(B, C S, V) -> (B, C, H, W), the sum over orientations and scales, differentiable.

        Scores of odd filters, in (B, C 2 S, V), have no part in it.

        After the lift it is the image, of which only frequencies beyond 0.8 pi radians a pixel are
        damped; with an open boundary frequencies of the image continued by its mirror images.

        Raises:
            TypeError: scores are no tensor.
            ValueError: of Gabor filters, on a graph with a mask, or another shape or dtype.
        """
        if self.kind != "cake":
            raise ValueError("Gabor filters have no inverse: use OrientedLift(graph, kind='cake').")
        orientations, height, width = self.grid
        if self.num_vertices != orientations * height * width:
            raise ValueError(
                f"OrientedLift.inverse needs the scores of all pixels; {self.label} has a mask. "
                "Use a graph without one, or Project and Graph.to_grid for what is inside."
            )
        scales = self.num_scales
        check_tensor("OrientedLift.inverse", scores)
        check_dtype("OrientedLift.inverse", scores)
        if scores.ndim != 3 or scores.shape[1] % scales or scores.shape[2] != self.num_vertices:
            taken = f"(B, C{f' {scales}' * (scales > 1)}, {self.num_vertices})"
            raise ValueError(f"OrientedLift.inverse takes {taken}. Got {tuple(scores.shape)}.")
        channels = scores.shape[1] // scales
        rows = vertex_major(scores).view(orientations, height, width, -1, channels, scales)
        return rows[..., : len(self.lengths)].sum((0, 5)).permute(2, 3, 0, 1)

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"kind={self.kind!r}, scales={self.lengths}"


class Wavelets(Mapped):
    """The filters of an image's frequencies and the waves that these belong to.

    A module of constants: rebuilt from what it was made for where it is unpickled or becomes
    float64, and neither saved nor broadcast.

    Filters are even, psi(-w) = psi(w), but not in y alone. Their part even in y, E, takes a product
    of cosines to itself, the other one, O, to the product of sines: cos cos becomes
    E cos cos - O sin sin, which holds for all products of `waves`. At theta and -theta O differs by
    its sign only, so half of the filters do.

    Modulo 2 pi there are odd filters, too, of quadrature pairs. Such a one has a part odd in x, X,
    and one odd in y, Y: i times it takes cos cos to -X cos sin - Y sin cos, where sin is the
    quarter of x's and of y's waves. Half a turn on even scores are the same, and odd ones have the
    other sign.

    Args:
        graph: its orientations and the size of its images count.
        kind: of the wavelets.
        lengths: (S,) in pixels.
    """

    even: Tensor

    # Else what is made while a network is evaluated could never be trained.
    @torch.inference_mode(mode=False)
    def __init__(self, graph: Graph, kind: Kind, lengths: tuple[float, ...]) -> None:
        super().__init__(recipe_of(graph.handle, Wavelets, kind, lengths))
        self._paired = graph.period > math.pi
        self._periodic = graph.boundary == "periodic"
        self._kind = kind
        self._lengths = lengths
        self._grid = graph.grid
        for name, constants in self._made_here().items():
            self._hold(name, constants.float())

    def _made_here(self) -> dict[str, Tensor]:
        """The constants, with values also where networks are made on "meta"."""
        with torch.device("cpu"):
            return self._made()

    def _made(self) -> dict[str, Tensor]:
        """The constants, float64."""
        orientations, *sides = self._grid
        (y, *along_y), (x, *along_x) = (waves(side, periodic=self._periodic) for side in sides)
        frequencies = [(y[:, None], other[None]) for other in (x, -x)]
        odd: dict[str, Tensor] = {}
        if self._paired:
            (one, edge), (mirrored, mirrored_edge) = (
                pairs(self._lengths, orientations, plane) for plane in frequencies
            )
            odd = {"odd_in_x": (edge - mirrored_edge) / 2, "odd_in_y": (edge + mirrored_edge) / 2}
        else:
            one, mirrored = (
                filters(self._kind, self._lengths, orientations, plane) for plane in frequencies
            )
        names = "rows", "quarter_rows", "columns", "quarter_columns"
        bases = dict(zip(names, (*along_y, *along_x), strict=True))
        return {"even": (one + mirrored) / 2, "odd": (one - mirrored) / 2, **bases, **odd}

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, C, S or, with odd filters, 2 S, n_o, H, W).

        In the wider of x's dtype and its own.
        """
        x = x.to(torch.promote_types(x.dtype, self.even.dtype))
        parts = (part.to(x.dtype) for part in self._tensors().values())
        even, odd, rows, quarter_rows, columns, quarter_columns, *of_edges = parts
        spectrum = (rows @ x @ columns.T)[:, :, None, None]
        plain = rows.T @ (even * spectrum) @ columns
        turning = quarter_rows.T @ (odd * spectrum) @ quarter_columns
        lines = plain - turning
        if of_edges:
            odd_in_x, odd_in_y = of_edges
            edges = rows.T @ (odd_in_x * spectrum) @ quarter_columns
            edges = edges + quarter_rows.T @ (odd_in_y * spectrum) @ columns
            both = torch.cat([lines, lines], dim=3), torch.cat([-edges, edges], dim=3)
            return torch.cat(both, dim=2)
        # theta_k and theta_{n_o - k} are mirror images.
        others = slice(1, (self._grid[0] + 1) // 2)
        mirrored = plain[:, :, :, others] + turning[:, :, :, others]
        return torch.cat([lines, mirrored.flip(3)], dim=3)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        before = self.even.dtype, self.even.is_meta
        super()._apply(fn, recurse)
        if (self.even.dtype, self.even.is_meta) != before:
            for name, constants in self._made_here().items():
                setattr(self, name, constants.to(getattr(self, name)))
        return self


def _check_lattice(graph: Graph) -> None:
    oriented = graph.coordinates.shape[1] > 2  # 2 are the place
    if graph.sampling != "lattice" or len(graph.grid) != 3 or not oriented:
        raise ValueError(
            "OrientedLift is for SE(2) on a lattice of pixels, whose Fourier plane its filters "
            f"divide. {graph.label}, grid {graph.grid}, has no such orientations: use Lift, which "
            "repeats a signal."
        )
