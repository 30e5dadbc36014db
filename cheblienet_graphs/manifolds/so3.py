"""The rotation group SO(3) over the sphere, orientations modulo pi."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cheblienet_graphs.manifolds.base import Base, Sphere
from cheblienet_graphs.manifolds.fibre import AnglesModuloPi, Fibre
from cheblienet_graphs.manifolds.metric import Metric, squared_norm
from cheblienet_graphs.manifolds.s2 import TINY

if TYPE_CHECKING:
    from cheblienet_graphs.typing import Floats


class SO3:
    """Rotations Rz(gamma) Ry(beta) Rz(alpha), radians; alpha and alpha + pi are the same.

    The base point of G is G e_z, so beta is the colatitude, in [0, pi], and alpha the orientation.
    The frame is (forward, sideways, rotation) = (L_y, -L_x, L_z): the one in which SO(3) tends to
    SE(2) at small scale. The paper prints three frames that contradict one another.
    """

    name = "so3"
    title = "SO(3)"
    meaning = ""
    columns: tuple[str, ...] = ("alpha", "beta", "gamma")
    frame: tuple[str, ...] = ("forward", "sideways", "rotation")
    base: Base = Sphere()
    fibre: Fibre = AnglesModuloPi("alpha")
    oriented = True
    default_neighbors = 16
    default_eps = math.sqrt(0.1)
    selling_neighbors: int | None = None
    least_matched_neighbors = 24
    anisotropic: str | None = None
    coordinates_in_words = (
        "alpha from south towards east, in [-pi/2, pi/2), beta (colatitude) in [0, pi], "
        "gamma (longitude, east) in {longitudes}"
    )
    operator_in_words = (
        "-(d_forward^2 + eps^2 d_sideways^2 + xi^-2 d_rotation^2), on the unit sphere"
    )

    def weights(self, metric: Metric) -> tuple[float, ...]:
        """1, eps^-2, xi^2 along (forward, sideways, rotation)."""
        return 1.0, metric.eps**-2, metric.xi**2

    def elements(self, coordinates: tuple[Any, ...]) -> tuple[Any, ...]:
        """Unit quaternions (w, x, y, z)."""
        alpha, beta, gamma = coordinates
        sine, cosine = (beta / 2).sin(), (beta / 2).cos()
        half_sum, half_difference = (alpha + gamma) / 2, (alpha - gamma) / 2
        return (
            cosine * half_sum.cos(),
            sine * half_difference.sin(),
            sine * half_difference.cos(),
            cosine * half_sum.sin(),
        )

    def logarithms(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Components (c1, c2, c3) of log g^-1 h and of log g^-1 h p, p the rotation by pi."""
        for scalar, components in _up_to_sign(g, h):
            sign = 1 - 2 * (scalar < 0)
            yield tuple(sign * c for c in components)

    def squared_distance(self, g: tuple[Any, ...], h: tuple[Any, ...], metric: Metric) -> Any:
        """The smaller |log|^2_R of the two candidates: symmetric, left-invariant, pi-periodic.

        The length of the path exp(t log), an upper bound of the geodesic distance.
        """
        weights = self.weights(metric)
        direct, turned = (squared_norm(weights, c) for _, c in _up_to_sign(g, h))
        return direct.minimum(turned)

    def rotation_angle(self, g: tuple[Any, ...], h: tuple[Any, ...]) -> Any:
        """s1 + s2 of g^-1 h = Rz(s1) Ry(b) Rz(s2): the angle after parallel transport."""
        a, b, c, d = g
        p, q, r, s = h
        return 2 * (a * s - b * r + c * q - d * p).atan2(a * p + b * q + c * r + d * s)

    def squared_length_of_rotation(self, angle: float, metric: Metric) -> float:
        """The least d^2 of rotations by this angle or more, in [0, pi/2] radians.

        With (w, x, y, z) the quaternion of g^-1 h, s the angle and b the distance on the base,
        x^2 + y^2 = sin^2(b/2) and |z| = cos(b/2) |sin(s/2)|; each component of the logarithm is at
        least twice as long.
        """
        return 4 * min(1.0, (metric.xi * math.sin(angle / 2)) ** 2)

    def spectrum(self, count: int, metric: Metric, _extent: tuple[float, ...] | None) -> "Floats":
        """Eigenvalues on SO(3), orientations modulo pi: the Hamiltonian of an asymmetric top.

        In the basis of Wigner's functions of degree J and even body-fixed index K it is
        tridiagonal, H_KK = (1 + eps^2)/2 (J(J+1) - K^2) + K^2 / xi^2 and H_K,K+2 =
        -(1 - eps^2)/4 sqrt([J(J+1) - K(K+1)] [J(J+1) - (K+1)(K+2)]); each eigenvalue occurs 2 J + 1
        times.
        """
        # scipy is no part of what the command line needs to show its help.
        import numpy as np
        from scipy.linalg import eigvalsh_tridiagonal

        eigenvalues: Floats = np.empty(0)
        lowest = [0.0]
        degree = 0
        # The lowest eigenvalue grows with J, of odd and of even degrees apart.
        while len(eigenvalues) < count or (count and min(lowest[-2:]) <= eigenvalues[-1]):
            index = np.arange(-(degree - degree % 2), degree + 1, 2)
            length, low = degree * (degree + 1), index[:-1]
            diagonal = (1 + metric.eps**2) / 2 * (length - index**2) + index**2 / metric.xi**2
            ladder = (length - low * (low + 1)) * (length - (low + 1) * (low + 2))
            coupling = -(1 - metric.eps**2) / 4 * np.sqrt(ladder)
            needed = (0, min(len(index) - 1, count // (2 * degree + 1)))
            values = eigvalsh_tridiagonal(diagonal, coupling, select="i", select_range=needed)
            lowest.append(float(values[0]))
            eigenvalues = np.sort(np.append(eigenvalues, np.repeat(values, 2 * degree + 1)))[:count]
            degree += 1
        return np.maximum(eigenvalues, 0.0)


def _up_to_sign(
    g: tuple[Any, ...], h: tuple[Any, ...]
) -> Iterator[tuple[Any, tuple[Any, Any, Any]]]:
    """The scalar part w of each candidate's unit quaternion, and sign(w) times its logarithm.

    With (w, v) that quaternion the rotation vector is r = sign(w) 2 atan2(|v|, |w|) / |v| v, exact
    at angle 0 and at pi, and (c1, c2, c3) = (r_y, -r_x, r_z). Lengths do not depend on the sign.
    """
    a, b, c, d = g
    p, q, r, s = h
    w = a * p + b * q + c * r + d * s
    x = a * q - b * p - c * s + d * r
    y = a * r + b * s - c * p - d * q
    z = a * s - b * r + c * q - d * p
    # Multiplying by the half turn maps (w, x, y, z) to (-z, y, -x, w).
    for scalar, (forward, sideways, rotation) in ((w, (y, -x, z)), (-z, (-x, -y, w))):
        sine = (forward * forward + sideways * sideways + rotation * rotation + TINY).sqrt()
        stretch = 2 * sine.atan2(scalar.abs()) / sine
        yield scalar, (stretch * forward, stretch * sideways, stretch * rotation)
