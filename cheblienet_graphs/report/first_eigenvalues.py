"""The first eigenvalues of a published level, and those of its metric's operator."""

import numpy as np

from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spectrum.numeric import Eigenvalues, smallest_eigenvalues
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Progress


def first_eigenvalues(
    arrays: LevelArrays, count: int, components: int, points: Sampling, step: Progress
) -> Eigenvalues:
    """The smallest eigenvalues: the stored ones if there are enough; a 0 for each component.

    Args:
        arrays: of the level.
        count: M in [0, V].
        components: number of connected components.
        points: the level's sampling.
        step: called with "eigenvalues", the products done and the most there may be.
    """
    if not count:
        return Eigenvalues(np.empty(0), converged=True, method="")
    if components >= count:  # solvers converge slowly where many are equal
        return Eigenvalues(np.zeros(count), converged=True, method="components")
    stored = arrays.eigenvalues
    if stored is not None and len(stored) >= count:
        return Eigenvalues(np.array(stored[:count]), converged=True, method="stored")

    def report(products: int, most: int) -> None:
        step("eigenvalues", products, most)

    lambda_max = arrays.of_level.lambda_max
    return smallest_eigenvalues(
        arrays.laplacian, lambda_max, count, sampling=points, progress=report
    )


def exact_eigenvalues(
    spec: GraphSpec, sampled: SampledManifold[Sampling], count: int
) -> list[float] | None:
    """The smallest eigenvalues of the operator; None where none are known.

    They are known on whole domains without a boundary.

    Args:
        spec: of the build.
        sampled: the level's points with the metric asked for.
        count: of eigenvalues.
    """
    if spec.boundary == "open" or spec.mask is not None:
        return None
    extent = sampled.sampling.extent
    known: list[float] = spec.geometry.spectrum(count, sampled.metric, extent).tolist()
    return known
