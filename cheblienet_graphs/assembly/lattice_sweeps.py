"""The sweeps that make the level of a lattice."""

from cheblienet_graphs.assembly.blocks import rows_of
from cheblienet_graphs.assembly.driver import Assembled, Driver
from cheblienet_graphs.assembly.job import SOLUTION
from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.store.staged import Writer


def assemble_lattice(driver: Driver) -> Assembled:
    """Do all sweeps of a lattice by stencils.

    Raises:
        SpecError: the stencils are empty, or there are no such weights, or they vanish.
    """
    if driver.job.spec.weights == "matched":
        driver.once("matched-weights", lambda: _share_solution(driver))
    rows = rows_of(driver.job)
    if not isinstance(rows, LatticeRows):
        raise TypeError("stencils exist on lattices only")
    driver.check_degrees(rows.vanished)
    driver.reserve(rows.nnz)
    limit = rows.largest_possible
    bound = driver.given_bound(limit)
    driver.sweep("rows", rows.lines, rows.nnz, lambda_max=bound and bound.value)
    if bound is None:
        bound = driver.computed_bound(limit)
        driver.sweep("values", rows.lines, rows.nnz, lambda_max=bound.value)
    return Assembled(
        edges=rows.edges,
        nnz=rows.nnz,
        in_plane=rows.in_plane,
        isolated=rows.isolated,
        bandwidth=rows.bandwidth,
        dropped_edges=rows.dropped_edges,
        bound=bound,
    )


def _share_solution(driver: Driver) -> Result:
    """Write down the matched weights that the one who builds has solved for, for all to read."""
    from cheblienet_graphs.weights.lattice import LatticeWeights  # which needs scipy.linalg

    on_lattice = driver.level.on_lattice
    weights = None if on_lattice is None else on_lattice.weights
    if not isinstance(weights, LatticeWeights) or weights.solution is None:
        raise TypeError("matched weights are those of a lattice")
    solution = weights.solution
    with Writer() as out:
        out.write(driver.scratch(SOLUTION, solution.shape, "float64"), 0, solution)
    return {}
