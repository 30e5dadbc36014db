"""Real even spherical harmonics: the bases of diffusion MRI, their values on axes, and layers."""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any, Literal, TypeAlias, get_args

import numpy.typing as npt
import torch
from torch import Tensor

from cheblienet_models.arguments import check_dtype, check_tensor, check_values, choice, real_array
from cheblienet_models.errors import quoted
from cheblienet_models.graphs.graph import Graph
from cheblienet_models.graphs.identity import Recorded
from cheblienet_models.tensors import Constants, autocast_type

__all__ = ["Basis", "FromHarmonics", "ToHarmonics", "harmonics_matrix", "largest_degree"]

Basis = Literal["descoteaux07", "descoteaux07_legacy", "tournier07", "tournier07_legacy"]
BASES: tuple[Basis, ...] = get_args(Basis)
LARGEST = 64
"""Degrees up to which the recursion was compared with scipy."""
Affine: TypeAlias = Tensor | npt.ArrayLike
UNIT = 1e-6
"""Largest difference of the length of an axis from 1."""
SHEAR = 1e-3
"""Largest cosine between two directions of the voxels: 0.06 degrees off a right angle."""
APART = 1e-3
"""Least ratio of the singular values of harmonics that axes distinguish; graphs' sets have 0.7."""


def harmonics_matrix(
    axes: Tensor, degree: int, basis: Basis, affine: Affine | None = None
) -> Tensor:
    """Values on axes of the harmonics of even degrees l up to `degree`.

    Columns are in the order l = 0, 2, ..., `degree`, and m = -l, ..., l within each. With Y_l^m the
    complex harmonics, Condon and Shortley's phase (-1)^m included, they are

    - "descoteaux07": sqrt 2 Re Y_l^m for m < 0, Y_l^0, sqrt 2 Im Y_l^m for m > 0;
    - "descoteaux07_legacy": the same with Re Y_l^|m| for m < 0, another sign where m is odd;
    - "tournier07": sqrt 2 Im Y_l^|m| for m < 0, Y_l^0, sqrt 2 Re Y_l^m for m > 0, as MRtrix 3 has
      them;
    - "tournier07_legacy": the same without sqrt 2, as MRtrix 0.2 has them.

    All but the last are orthonormal on the sphere. dipy calls them so; `legacy` is an argument
    there, True by default.

    Args:
        axes: (n_o, 3) unit vectors n; of n and -n either.
        degree: even, in [0, 64].
        basis: one of the above.
        affine: (4, 4), or (3, 3), from voxels to the world, where the functions are given in
            directions of the world: it says which of these an axis, a direction of the voxels, is.

    Returns:
        (n_o, (degree + 1) (degree + 2) / 2) float64.

    Raises:
        ValueError: another shape, degree or basis; axes that are no unit vectors; an affine with
            shear.
    """
    coefficients(degree)
    choice("basis", basis, BASES)
    directions = unit_vectors(axes)
    if affine is not None:
        directions = directions @ rotation_of(affine).T.to(directions.device)
    waves = _complex(directions, degree)
    columns = [
        _real(waves[order, abs(m)], m, basis)
        for order in range(0, degree + 1, 2)
        for m in range(-order, order + 1)
    ]
    return torch.stack(columns, dim=1)


def coefficients(degree: int) -> int:
    """Number of even harmonics up to a degree.

    Raises:
        ValueError: the degree is odd or out of range.
    """
    given: Any = degree
    number = isinstance(given, Integral) and not isinstance(given, bool)
    if not number or not 0 <= degree <= LARGEST or degree % 2:
        accepted = f"an even integer in [0, {LARGEST}]: of an axis odd harmonics are 0"
        raise ValueError(f"degree must be {accepted}. Got {quoted(degree)}.")
    return (degree + 1) * (degree + 2) // 2


def _real(wave: Tensor, m: int, basis: Basis) -> Tensor:
    """The real harmonic of m from the complex one of |m|."""
    if m == 0:
        return wave.real
    imaginary = m > 0 if basis.startswith("descoteaux07") else m < 0
    part = wave.imag if imaginary else wave.real
    if basis == "tournier07_legacy":
        return part
    # Y_l^-m is (-1)^m times the conjugate of Y_l^m.
    sign = -1 if basis == "descoteaux07" and m < 0 and m % 2 else 1
    return sign * math.sqrt(2) * part


def _complex(directions: Tensor, degree: int) -> dict[tuple[int, int], Tensor]:
    """Y_l^m, (n_o,) complex128, by (l, m) with 0 <= m <= l, odd l too.

    Y_l^m = Q_l^m(z) (x + i y)^m. The three-term recursion of the polynomials Q, normalized, holds
    at the poles as well.
    """
    x, y, z = directions.unbind(1)
    turn = torch.complex(x, y)
    waves = {}
    first = torch.full_like(z, 1 / math.sqrt(4 * math.pi))
    power = torch.ones_like(turn)
    for m in range(degree + 1):
        before, current = torch.zeros_like(z), first
        waves[m, m] = current * power
        for order in range(m + 1, degree + 1):
            scale = (4 * order**2 - 1) / (order**2 - m**2)
            back = ((order - 1) ** 2 - m**2) / (4 * (order - 1) ** 2 - 1)
            following = math.sqrt(scale) * (z * current - math.sqrt(back) * before)
            before, current = current, following
            waves[order, m] = current * power
        first = -math.sqrt((2 * m + 3) / (2 * m + 2)) * first
        power = power * turn
    return waves


def axes_of(graph: Graph | Tensor) -> Tensor:
    """(n_o, 3) float64 unit vectors: the axes of a graph on positions and axes, or the given ones.

    Raises:
        ValueError: the graph has no axes, or what is given is no such tensor.
    """
    if not isinstance(graph, Graph):
        return unit_vectors(graph)
    if graph.coordinates.shape[1] != len(("x", "y", "z", "nx", "ny", "nz")):
        raise ValueError(
            f"Spherical harmonics are functions on the axes of r3s2; {graph.label}, grid "
            f"{graph.grid}, has none."
        )
    fibers = graph.coordinates.view(graph.orientations, graph.num_points, -1)
    return unit_vectors(fibers[:, 0, 3:])


def unit_vectors(axes: Tensor) -> Tensor:
    """(n_o, 3) as float64.

    Raises:
        ValueError: another shape, or some are no unit vectors.
    """
    if isinstance(axes, Tensor):
        check_values("axes", axes)
    if not isinstance(axes, Tensor) or axes.ndim != 2 or axes.shape[1] != 3 or not len(axes):
        found = tuple(axes.shape) if isinstance(axes, Tensor) else type(axes).__name__
        raise ValueError(f"axes must be a tensor (n_o, 3). Got {found}.")
    directions = axes.detach().to(torch.float64)
    lengths = directions.norm(dim=1)
    if not bool(((lengths - 1).abs() <= UNIT).all()):  # which NaN is not
        off = float((lengths - 1).abs().max())
        raise ValueError(f"axes must be unit vectors. Got lengths up to {off:.1g} off 1.")
    return directions


def rotation_of(affine: Affine) -> Tensor:
    """The rotation from voxel directions to world directions, spacing taken out.

    Column a is the direction of the world in which voxel index a grows: a flip, or axes in another
    order, are in it. Its determinant may be -1.

    Args:
        affine: (4, 4), from (i, j, k, 1) to the world, or its linear part (3, 3); a tensor or an
            array.

    Returns:
        (3, 3) float64, orthogonal to rounding: the nearest to the affine's.

    Raises:
        ValueError: another shape, or it has shear.
    """
    matrix = torch.from_numpy(real_array("affine", affine))
    if tuple(matrix.shape) not in {(4, 4), (3, 3)}:
        raise ValueError(f"affine must be (4, 4) or (3, 3). Got {tuple(matrix.shape)}.")
    columns = matrix[:3, :3] / matrix[:3, :3].norm(dim=0)
    cosines = (columns.T @ columns - torch.eye(3)).abs().max()
    if not bool(cosines <= SHEAR):  # which NaN is not
        raise ValueError(
            "affine must have directions at right angles. Got a cosine of "
            f"{float(cosines):.3g} between two: resample the image without shear."
        )
    left, _, right = torch.linalg.svd(columns)
    rotation: Tensor = left @ right
    return rotation


def largest_degree(axes: Graph | Tensor) -> int:
    """The largest degree up to which values on the axes give the coefficients back.

    Of graphs' sets 3 and 4 axes serve degree 0; 6, 7, 12, 13 and ico6 degree 2; 22 and ico21 degree
    4; 43 degree 6; ico81 degree 10: each as many coefficients as it has axes for.

    Args:
        axes: a graph on positions and axes, or (n_o, 3) unit vectors.

    Raises:
        ValueError: it is neither.
    """
    directions = axes_of(axes)
    served = 0
    for degree in range(2, LARGEST + 1, 2):
        if coefficients(degree) > len(directions) or not tells_apart(directions, degree):
            break
        served = degree
    return served


def check_served(axes: Tensor, degree: int) -> None:
    """Refuse a degree of which the axes do not give the coefficients back.

    Args:
        axes: (n_o, 3) unit vectors.
        degree: even.

    Raises:
        ValueError: the degree has more coefficients than there are axes, or the axes lie so that
            harmonics up to it look alike on them.
    """
    count, served = coefficients(degree), largest_degree(axes)
    if degree > served:
        more = "more than" if count > len(axes) else "which are not told apart by"
        raise ValueError(
            f"degree={degree} has {count} coefficients, {more} the {len(axes)} axes. The largest "
            f"degree that these serve is {served}; use it, or a graph of more axes."
        )


def tells_apart(axes: Tensor, degree: int) -> bool:
    """True if harmonics up to a degree are independent on the axes."""
    values = torch.linalg.svdvals(harmonics_matrix(axes, degree, "descoteaux07"))
    return bool(values[-1] > APART * values[0])


class _Harmonics(Recorded, Constants):
    """A constant matrix, to or from coefficients; checkpoints record degree and basis.

    The matrix stays float64 and is not saved; it follows a network to its device.
    """

    matrix: Tensor
    columns: str
    """Name of the matrix' columns, for an error."""
    _made: Callable[..., Tensor]
    """The matrix from axes, degree, basis and affine."""

    def __init__(
        self, graph: Graph | Tensor, degree: int, basis: Basis, affine: Affine | None = None
    ) -> None:
        super().__init__()
        self.settings = {"degree": degree, "basis": basis}  # not the affine, which is the image's
        self._hold("matrix", self._made(axes_of(graph), degree, basis, affine), exact=True)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, m, D, H, W) -> (B, C, n, D, H, W) by the matrix (n, m), in the dtype of x.

        What follows dimension 2 may have any shape, such as that of points inside a mask. Computed
        in float32 at least, also under autocast.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another number of coefficients or axes, or no floating-point dtype.
        """
        layer = type(self).__name__
        taken = self.matrix.shape[1]
        check_tensor(layer, x)
        if x.ndim < 3 or x.shape[2] != taken:
            raise ValueError(
                f"{layer} takes (B, C, {taken}, ...), {taken} {self.columns}. Got {tuple(x.shape)}."
            )
        check_dtype(layer, x)
        dtype = torch.promote_types(x.dtype, torch.float32)
        with torch.autocast(autocast_type(x), enabled=False):
            product = torch.einsum("nm,bcm...->bcn...", self.matrix.to(dtype), x.to(dtype))
        return product.to(x.dtype)

    def extra_repr(self) -> str:
        """The line that print(layer) shows."""
        return f"degree={self.settings['degree']}, basis={self.settings['basis']!r}"


class FromHarmonics(_Harmonics):
    """Evaluate harmonics on a graph's axes, (B, C, coefficients, ...) -> (B, C, n_o, ...).

    The way from an image of coefficients, such as a fiber orientation distribution, to a signal on
    positions and axes: `Lift` takes what comes out, where the image is of the graph's size.

    Any degree can be evaluated; `ToHarmonics` gives back the degrees that the axes serve, up to
    `largest_degree`. Nothing is trained. Checkpoints record degree and basis. Results have the
    dtype of x, computed in float32 at least, also under autocast; what follows dimension 2, such as
    (D, H, W) or points inside a mask, may have any shape.

    Args:
        graph: on positions and axes, or (n_o, 3) unit vectors.
        degree: the largest, even, in [0, 64].
        basis: "descoteaux07", "descoteaux07_legacy", "tournier07" or "tournier07_legacy", as
            `harmonics_matrix` says. There is no default, since nothing in an image says it.
        affine: (4, 4) of the image, from voxels to the world, where its functions are given in
            directions of the world, as MRtrix has them: its rotation and flips turn them to the
            axes, which are directions of the voxels. None where functions are so, too.

    Attributes:
        matrix: (n_o, coefficients), a constant in float64.

    Raises:
        ValueError: the graph has no axes; another degree or basis; an affine with shear.
    """

    columns = "coefficients"
    _made = staticmethod(harmonics_matrix)


class ToHarmonics(_Harmonics):
    """Fit harmonics to values on a graph's axes, (B, C, n_o, ...) -> (B, C, coefficients, ...).

    Least squares; the opposite of `FromHarmonics`: it gives the coefficients of a field of that
    degree back.

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

    @staticmethod
    def _made(axes: Tensor, degree: int, basis: Basis, affine: Affine | None) -> Tensor:
        check_served(axes, degree)
        inverse: Tensor = torch.linalg.pinv(harmonics_matrix(axes, degree, basis, affine))
        return inverse
