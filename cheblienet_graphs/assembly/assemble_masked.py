"""The sweeps that make the level of a part of a lattice, in their order."""

from cheblienet_graphs.assembly.assemble_lattice import share_solution
from cheblienet_graphs.assembly.driver import Assembled, Driver
from cheblienet_graphs.assembly.masked_rows import MaskedRows
from cheblienet_graphs.assembly.masked_sweeps import Degrees, Rows
from cheblienet_graphs.assembly.rescaling import Rescaling


def assemble_masked(driver: Driver) -> Assembled:
    """Do all sweeps of a part of a lattice by stencils.

    Raises:
        SpecError: no edge is inside, or there are no such weights, or they vanish.
    """
    job, vertices = driver.job, driver.job.num_vertices
    share_solution(driver)
    rows = driver.kept.of(MaskedRows, job)
    edges = rows.stencils.total_degree // 2
    driver.check_edges(edges)
    nnz = 2 * edges + vertices
    driver.reserve(nnz)
    driver.scratch("counts", (vertices,), "int64")
    driver.scratch("degree", (vertices,), "float64")
    if job.laplacian == "normalized" or rows.unequal_areas:
        driver.scratch("inverse-root-mass", (vertices,), "float64")
    weighed = driver.sweep(Degrees(job), nnz)
    driver.check_degrees(sum(result["vanished"] for result in weighed))
    driver.write_row_pointers()
    limit = max(result["largest"] for result in weighed)
    bound = driver.given_bound(limit)
    driver.sweep(Rows(job, None if bound is None else bound.value), nnz)
    if bound is None:
        bound = driver.computed_bound(limit)
        driver.sweep(Rescaling(job, bound.value), nnz)
    return Assembled(
        edges=edges,
        nnz=nnz,
        in_plane=rows.stencils.in_plane_degree,
        isolated=sum(result["isolated"] for result in weighed),
        bandwidth=rows.bandwidth,
        dropped_edges=rows.dropped_edges,
        bound=bound,
    )
