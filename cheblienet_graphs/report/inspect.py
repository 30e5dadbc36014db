"""The examination of a published graph."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse

from cheblienet_graphs.limits import EIGENVALUES
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.report import diagnostics
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.report.scale import probes
from cheblienet_graphs.report.spectra import exact_eigenvalues, first_eigenvalues
from cheblienet_graphs.report.verdict import compared, verdict
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.spectrum.numeric import multiplicities
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.facts import read_facts
from cheblienet_graphs.store.reader import LevelArrays
from cheblienet_graphs.typing import Progress
from cheblienet_graphs.values import callback, integer


def inspect(
    store: str | Path,
    name: str | None = None,
    *,
    eigenvalues: int = 6,
    level: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Examine a published graph. Files are read block by block; memory holds a few vectors.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        eigenvalues: number of the smallest to compute for each level, in [0, 1000].
        level: the only level to examine; default all.
        progress: called with the name of a stage, its steps done and the most there may be; 0 and
            0 where steps are not counted.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `level` or `eigenvalues` is out of range.
    """
    callback("progress", progress)
    version = layout.resolve(store, name)
    facts = read_facts(version)
    spec = facts.spec
    if level is not None:
        level = integer("level", level, 0, spec.levels - 1)
    eigenvalues = integer("eigenvalues", eigenvalues, *EIGENVALUES)
    return Report(
        version.parent.name,
        version.name,
        tuple(ref for ref, target in layout.refs(version.parent).items() if target == version.name),
        spec,
        facts.spec_sha256,
        dict(facts.generator),
        facts.created,
        facts.nbytes + (version / "zarr.json").stat().st_size,
        tuple(
            _level_report(LevelArrays(version, facts, number), eigenvalues, progress or _silent)
            for number in range(spec.levels)
            if level in {None, number}
        ),
    )


def _level_report(arrays: LevelArrays, count: int, progress: Progress) -> LevelReport:
    spec, level, facts = arrays.facts.spec, arrays.level, arrays.of_level
    weights, coordinates, degree = arrays.weights, arrays.coordinates, arrays.degree
    laplacian = weights.laplacian
    # Opened after the arrays, which bound the size: points of a false size would fill the memory.
    points, metric = arrays.sampling, Metric(spec.eps, facts.xi or 0.0)
    count = min(count, facts.vertices)

    def step(what: str, done: int = 0, total: int = 0) -> None:
        progress(f"level {level}: {what}", done, total)

    step("components")
    components = diagnostics.components(laplacian)
    step("eigenvalues")
    spectrum = first_eigenvalues(arrays, count, components, points, step)
    step("metric")
    whole = SampledManifold(points, spec.geometry, metric)
    measured = probes(spec, whole, weights)
    metrics = diagnostics.effective_metrics(weights, coordinates, whole, measured)
    scale = facts.eigenvalue_scale
    if scale is None:  # of an older store, or nowhere to measure
        scale = diagnostics.operator_scale(spec, metrics, degree, points, measured)
    known = exact_eigenvalues(spec, whole, count)
    comparison = compared(spectrum, scale, known, masked=spec.mask is not None)
    judged = verdict(spec, whole, metrics, components, comparison)
    step("symmetries")
    errors = diagnostics.equivariance_errors(laplacian, points)
    step("weights")
    return LevelReport(
        level=level,
        sparsity=1 - facts.nnz / facts.vertices**2,
        degree=_degrees(laplacian),
        components=components,
        eigenvalues=spectrum.values.tolist(),
        multiplicities=multiplicities(spectrum.values, facts.lambda_max),
        eigenvalues_converged=spectrum.converged,
        eigenvalues_method=spectrum.method if count else None,
        multiplicities_may_be_larger=spectrum.method == "lanczos",
        exact_eigenvalues=known,
        effective_metric=metrics,
        consistency=judged.consistency,
        spectral_error=comparison.error,
        finding=replace(judged.finding, levels=(level,)),
        equivariance=errors,
        weights=diagnostics.weight_statistics(weights),
        inside=None if spec.mask is None else points.num_points / spec.full_points(level),
        **{**facts, "eigenvalue_scale": scale},
    )


def _degrees(laplacian: scipy.sparse.csr_array) -> dict[str, float]:
    """The smallest, mean and largest number of neighbours."""
    degrees = np.diff(laplacian.indptr) - 1
    statistics = {"min": degrees.min(), "mean": degrees.mean(), "max": degrees.max()}
    return {name: float(value) for name, value in statistics.items()}


def _silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
