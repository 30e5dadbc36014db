"""The directional Laplacians of a level, beside that of its metric."""

from dataclasses import replace

from cheblienet_graphs.assembly.assemble_lattice import assemble_lattice
from cheblienet_graphs.assembly.assemble_masked import assemble_masked
from cheblienet_graphs.assembly.driver import Driver
from cheblienet_graphs.store.facts import OperatorFacts


def assemble_directional(driver: Driver) -> dict[str, OperatorFacts] | None:
    """Do all sweeps of each directional Laplacian, by stencils whatever finds neighbours.

    Args:
        driver: of the level.

    Returns:
        What is recorded of each; None where the specification has none.

    Raises:
        SpecError: the lattice is too small for the stencils, or no edge is inside the mask.
    """
    found = {}
    for direction, level in driver.level.directed.items():
        job = replace(driver.job, choice=level.choice, direction=direction)
        of_direction = replace(driver, job=job, level=level)
        masked = job.spec.mask is not None
        made = (assemble_masked if masked else assemble_lattice)(of_direction)
        found[direction] = OperatorFacts(made.edges, made.nnz, made.bound.value, made.bound.method)
    return found or None
