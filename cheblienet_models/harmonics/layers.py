"""Between coefficients of spherical harmonics and values on a graph's axes."""

from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor

from cheblienet_models.arguments import check_tensor
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Recorded
from cheblienet_models.harmonics.bases import Affine, Basis, axes_of, check_served, harmonics_matrix
from cheblienet_models.tensors import autocast_type


class _Harmonics(Recorded):
    """A constant matrix, to or from coefficients; checkpoints record degree and basis.

    The matrix stays float64 and is not saved; it follows a network to its device.
    """

    matrix: Tensor
    columns: str
    """What the matrix' columns count, for an error."""

    def __init__(self, matrix: Tensor, degree: int, basis: Basis) -> None:
        super().__init__()
        self.settings = {"degree": degree, "basis": basis}  # not the affine, which is the image's
        self.register_buffer("matrix", matrix, persistent=False)

    def _product(self, x: Tensor) -> Tensor:
        """(B, C, m, ...) -> (B, C, n, ...) by the matrix (n, m), in float32 at least."""
        layer, taken = type(self).__name__, self.matrix.shape[1]
        check_tensor(layer, x)
        if x.ndim < 3 or x.shape[2] != taken or not x.is_floating_point():
            raise ValueError(
                f"{layer} takes (B, C, {taken}, ...), {taken} {self.columns}, of floating-point "
                f"numbers. Got {tuple(x.shape)}, {x.dtype}."
            )
        dtype = torch.promote_types(x.dtype, torch.float32)
        with torch.autocast(autocast_type(x), enabled=False):
            product = torch.einsum("nm,bcm...->bcn...", self.matrix.to(dtype), x.to(dtype))
        return product.to(x.dtype)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: ARG002, FBT001, FBT002
        self.matrix = self.matrix.to(fn(self.matrix).device)
        return self

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"degree={self.settings['degree']}, basis={self.settings['basis']!r}"


class FromHarmonics(_Harmonics):
    """Evaluate fields of spherical harmonics on a graph's axes.

    The way from an image of coefficients, such as a fiber orientation distribution, to a signal on
    positions and axes: `Lift` takes what comes out, where the image is of the graph's size.

    Any degree can be evaluated; `ToHarmonics` gives back those that the axes serve, which
    `largest_degree` tells. Nothing is trained. Checkpoints record degree and basis.

    Args:
        graph: on positions and axes, or (n_o, 3) unit vectors.
        degree: the largest, even, in [0, 64].
        basis: "descoteaux07", "descoteaux07_legacy", "tournier07" or "tournier07_legacy", as
            `harmonics_matrix` says. There is no default, since nothing in an image tells it.
        affine: (4, 4) of the image, from voxels to the world, where its functions are given in
            directions of the world, as MRtrix has them: its rotation and flips turn them to the
            axes, which are directions of the voxels. None where functions are so, too.

    Attributes:
        matrix: (n_o, coefficients), a constant in float64.

    Raises:
        ValueError: the graph has no axes; another degree or basis; an affine with shear.
    """

    columns = "coefficients"

    def __init__(
        self, graph: Graph | Tensor, degree: int, basis: Basis, affine: Affine | None = None
    ) -> None:
        super().__init__(harmonics_matrix(axes_of(graph), degree, basis, affine), degree, basis)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, coefficients, D, H, W) -> (B, C, n_o, D, H, W), in the dtype of x.

        What follows dimension 2 may have any shape, such as that of points inside a mask. Computed
        in float32 at least, also under autocast.

        Raises:
            ValueError: x has another number of coefficients, or no floating-point dtype.
        """
        return self._product(x)


class ToHarmonics(_Harmonics):
    """Fit spherical harmonics to values on a graph's axes: least squares.

    The opposite of `FromHarmonics`: it gives the coefficients of a field of that degree back.

    Args:
        graph: on positions and axes, or (n_o, 3) unit vectors.
        degree: the largest, even, at most what the axes serve: see `largest_degree`.
        basis: as of FromHarmonics.
        affine: as of FromHarmonics; coefficients are then of functions in the world's directions.

    Attributes:
        matrix: (coefficients, n_o), a constant in float64.

    Raises:
        ValueError: the graph has no axes; another basis; a degree that is odd or beyond what the
            axes serve; an affine with shear.
    """

    columns = "axes"

    def __init__(
        self, graph: Graph | Tensor, degree: int, basis: Basis, affine: Affine | None = None
    ) -> None:
        axes = axes_of(graph)
        check_served(axes, degree)
        matrix = torch.linalg.pinv(harmonics_matrix(axes, degree, basis, affine))
        super().__init__(matrix, degree, basis)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, n_o, D, H, W) -> (B, C, coefficients, D, H, W), in the dtype of x.

        What follows dimension 2 may have any shape, as of FromHarmonics.

        Raises:
            ValueError: x has another number of axes, or no floating-point dtype.
        """
        return self._product(x)
