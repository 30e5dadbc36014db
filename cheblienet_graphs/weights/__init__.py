"""Edge weights: one class for each kind of them, and the mathematics that they are made with.

`weighting` has the interface, `kernel`, `matched`, `selling` and `voronoi` the kinds, `directional`
the weights along one direction. `stencils`, `superbases`, `sides` and `cut` make the weights of
lattices, `matching` and `scattered` solve for matched ones, `cells` is for Voronoi cells; `points`
is the Laplacian of points that are given as an array.
"""

from cheblienet_graphs.weights.kernel import Kernel
from cheblienet_graphs.weights.matched import Matched
from cheblienet_graphs.weights.selling import Selling
from cheblienet_graphs.weights.voronoi import Voronoi
from cheblienet_graphs.weights.weighting import Weighting

_ALL: tuple[type[Weighting], ...] = (Kernel, Matched, Selling, Voronoi)
WEIGHTINGS = {kind.name: kind for kind in _ALL}

__all__ = ["WEIGHTINGS", "Weighting"]
