"""The numbers and words that are accepted: checks and help pages both take them from here."""

from typing import NamedTuple


class Range(NamedTuple):
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


class Integers(NamedTuple):
    """Whole numbers from `low` to `high`, both included."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"[{self.low}, {self.high}]"


SIDE = Integers(2, 65_536)
SUBDIVISIONS = Integers(0, 9)
REFINED_SUBDIVISIONS = 12
"""Most of an icosphere in a region."""
REFINED_POINTS = 2**24
"""Most points that such an icosphere has there."""
NSIDE = Integers(1, 8_192)
BANDLIMIT = Integers(1, 16_384)
GAUSSIAN = Integers(2, 8_192)
"""Latitudes of a Gaussian grid on each half of the sphere."""
ROW = Integers(4, 65_536)
"""Points of a latitude of a reduced Gaussian grid."""
POINTS = Integers(2, 2**31 - 1)
ASPECT = Range(1e-6, 1e6)
"""Height of the domain of given points, in units of its width."""
SPACING = Range(1e-3, 1e3)
"""Sides of voxels, in units of that along x."""
SEED = Integers(0, 2**32 - 1)
ORIENTATIONS = Integers(1, 180)
ALPHA = Range(1e-6, 1e6)
XI = Range(1e-6, 1e6)
IN_PLANE_FRACTION = Range(0.01, 0.99)
EPS = Range(0.001, 1)
EPS_SQUARED = Range(EPS.low**2, EPS.high**2)
DIRECTIONAL = EPS_SQUARED
"""Diffusivity across a direction, in units of that along it."""
DRIFT = Range(0.001, 1)
"""Slack of first moments, in units of sum_j w_ij c_ij^2, its mean."""
NEIGHBORS = Integers(1, 1024)
RADIUS = Range(1e-6, 1e6)
"""Within which sources of a map are, in units of length of the domain."""
BANDWIDTH = Range(0.01, 100)
EIGENPAIRS = Integers(1, 1000)
"""Eigenpairs of a level; no more than it has vertices."""
EIGENVALUES = Integers(0, 1000)
"""Eigenvalues in a report."""
WORKERS = Integers(1, 1024)
VERTICES = 2**34
"""Largest number of vertices of a level."""
BOUNDARIES = ("open", "periodic")
WEIGHTS = ("kernel", "matched", "selling", "voronoi")
KERNELS = ("gaussian", "laplace", "cauchy", "rectangular")
MASK_EDGES = ("pixels", "cut")
LAPLACIANS = ("normalized", "combinatorial")
AXES = {
    **{str(count): count for count in (3, 4, 6, 7, 12, 13, 22, 43)},
    **{f"ico{count}": count for count in (6, 21, 81)},
}
"""Number of axes in each set, by its name."""
DEFAULT_AXES = "12"
SMALLEST_DEFAULT_SIDE = 8
"""Coarser levels with a shorter side are left out of the default pyramid."""
SMALLEST_DEFAULT_POINTS = 42
"""Coarser levels with fewer points are, where points have no grid."""
