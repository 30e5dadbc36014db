"""Points of one's own on the way to whoever does blocks: files, as many blocks need them."""

import numpy as np

from cheblienet_graphs.assembly.driver import Driver
from cheblienet_graphs.assembly.job import OWN_POINTS
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.store.durable import write_errors
from cheblienet_graphs.store.staged import Writer


def share_own_points(driver: Driver, sampling: Sampling) -> None:
    """Write down a level's points and areas for `Job.level`, where they are one's own.

    A resumed build writes the same again.
    """
    if driver.job.spec.coordinates is None:
        return
    points = np.asarray(sampling.base_points)
    areas = sampling.areas(0, len(points))
    with write_errors(driver.job.store), Writer() as out:
        for name, values in zip(OWN_POINTS, (points, areas), strict=True):
            out.write(driver.scratch(name, values.shape, "float64"), 0, values)
