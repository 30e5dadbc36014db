"""All sweeps of a level."""

from cheblienet_graphs.assembly.assemble_lattice import assemble_lattice
from cheblienet_graphs.assembly.assemble_masked import assemble_masked
from cheblienet_graphs.assembly.driver import Assembled, Driver


def assemble(driver: Driver) -> Assembled:
    """Do all sweeps of a level.

    Raises:
        SpecError: there are no edges, or no such weights, or they vanish.
    """
    if driver.job.choice.engine == "stencil":
        masked = driver.job.spec.mask is not None
        return assemble_masked(driver) if masked else assemble_lattice(driver)
    # Searches need torch, whose import takes longer than a build by stencils.
    from cheblienet_graphs.assembly.assemble_searched import assemble_searched

    return assemble_searched(driver)
