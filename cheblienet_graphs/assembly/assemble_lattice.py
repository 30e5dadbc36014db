"""The sweeps that make the level of a lattice, in their order."""

from cheblienet_graphs.assembly.driver import Assembled, Driver
from cheblienet_graphs.assembly.job import SOLUTION
from cheblienet_graphs.assembly.lattice_rows import LatticeRows
from cheblienet_graphs.assembly.lattice_sweeps import Rows, Values
from cheblienet_graphs.store.records import Result
from cheblienet_graphs.store.staged import Writer


def assemble_lattice(driver: Driver) -> Assembled:
    """Do all sweeps of a lattice by stencils.

    Raises:
        SpecError: the stencils are empty, or there are no such weights, or they vanish.
    """
    job = driver.job
    share_solution(driver)
    rows = driver.kept.of(LatticeRows, job)
    driver.check_degrees(rows.vanished)
    driver.reserve(rows.nnz)
    limit = rows.largest_possible
    bound = driver.given_bound(limit)
    driver.sweep(Rows(job, None if bound is None else bound.value), rows.nnz)
    if bound is None:
        bound = driver.computed_bound(limit)
        driver.sweep(Values(job, bound.value), rows.nnz)
    return Assembled(
        edges=rows.edges,
        nnz=rows.nnz,
        in_plane=rows.in_plane,
        isolated=rows.isolated,
        bandwidth=rows.bandwidth,
        dropped_edges=rows.dropped_edges,
        bound=bound,
    )


def share_solution(driver: Driver) -> None:
    """Write down the matched weights that the building process has solved for, for all to read."""
    if driver.job.spec.weights == "matched" and driver.job.direction is None:
        driver.once(driver.job.key("matched-weights"), lambda: _written(driver))


def _written(driver: Driver) -> Result:
    weights = driver.level.offset_weights
    if weights is None or weights.solution is None:
        raise TypeError("matched weights are those of a lattice")
    with Writer() as out:
        target = driver.scratch(SOLUTION, weights.solution.shape, "float64")
        out.write(target, 0, weights.solution)
    return {}
