"""The certificate: symmetry by symmetry, orientation by orientation, eigenvalue by eigenvalue."""

import itertools
from collections.abc import Sequence

import numpy as np

from cheblienet_graphs.page.glance import in_words, largest_errors
from cheblienet_graphs.page.tables import Group, Row, table
from cheblienet_graphs.page.tags import Markup, element, joined, powers, section
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.rows import turning
from cheblienet_graphs.report.second_moments import EXACT
from cheblienet_graphs.spec import GraphSpec, fibres
from cheblienet_graphs.spec.words import percent

MOST_EIGENVALUES = 40
"""Distinct ones that are shown of each level."""
UNKNOWN = "-"


def certificate(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """What was measured of equivariance, second moments and spectrum.

    Args:
        spec: of the build.
        levels: their reports.
    """
    parts = [_equivariance(levels), _moments(spec, levels)]
    if any(level.eigenvalues for level in levels):
        parts.append(_spectrum(spec, levels))
    return section("certificate", "Certificate", *parts)


def _equivariance(levels: Sequence[LevelReport]) -> Markup:
    heading = element("h3", "Equivariance")
    names = largest_errors(levels)
    if not names:
        none = "This sampling has no symmetry that is known, so there is nothing to compare."
        return joined([heading, element("p", none)])
    explained = element(
        "p",
        "For each symmetry P of the sampling the largest entry of |P'LP - L|, over all entries of "
        "the stored Laplacian L, whose eigenvalues are in [-1, 1]. Where it is 0, filters of L "
        "commute with P.",
    )
    columns = ["symmetry", *(f"level {level.level}" for level in levels)]
    rows = [[in_words(name), *(_error(level, name) for level in levels)] for name in names]
    made = table("equivariance", "Largest |P'LP - L|", columns, [Group(rows)])
    return joined([heading, explained, made])


def _error(level: LevelReport, name: str) -> str:
    error = level.equivariance.get(name)
    return UNKNOWN if error is None else f"{error:.2g}"


def _moments(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """Second moments by level and orientation or axis."""
    oriented = spec.geometry.oriented
    explained = (
        "Around a vertex the Laplacian acts through the second moments of its edges, "
        "M = sum w c c', c the components of an edge and w its weight. They are those of the "
        f"metric R where M is a multiple of R^-1: then eps^2 comes out as {spec.eps**2:.4g}"
        + (", xi^2 as asked," if oriented else "")
        + " and nothing mixes."
    )
    if spec.weights == "selling" and spec.geometry.fibre.cyclic and spec.orientations > 1:
        explained += (
            " Selling's edges across orientations are made for the first mode along the fibre, "
            "which shows here as a smaller xi^2."
        )
    columns = [
        fibres.word(spec) if oriented else "",
        powers(f"eps^2 (asked {spec.eps**2:.4g})"),
        *([powers("xi^2 / asked")] if oriented else []),
        "mixing of directions",
        "largest deviation at a point",
    ]
    groups = [
        Group(_moment_rows(spec, level), f"level {level.level}")
        for level in levels
        if level.effective_metric
    ]
    heading = element("h3", "Second moments")
    if not groups:
        none = "No point has all its neighbours inside the mask, so nothing was measured."
        return joined([heading, element("p", none)])
    made = table("moments", "The metric that the weights realise", columns, groups)
    return joined([heading, element("p", powers(explained)), made])


def _moment_rows(spec: GraphSpec, level: LevelReport) -> list[Row]:
    rows: list[Row] = []
    samples, oriented = fibres.samples_of(spec), spec.geometry.oriented
    for metric, ratio in zip(level.effective_metric, turning(level), strict=True):
        rows.append(
            [
                fibres.title(samples, metric.orientation, " ") if oriented else "all points",
                _three(metric.eps_squared),
                *([_three(ratio)] if oriented else []),
                percent(metric.leakage) if metric.leakage > 1e-9 else "0",
                percent(metric.deviation) if metric.deviation > 1e-9 else "0",
            ]
        )
    return rows


def _share(number: float) -> str:
    """A relative number; 0 where float32 explains it."""
    return percent(number) if number >= EXACT else "0"


def _three(number: float | None) -> str:
    return UNKNOWN if number is None else f"{number:.3g}"


def _spectrum(spec: GraphSpec, levels: Sequence[LevelReport]) -> Markup:
    """The smallest eigenvalues, a line for each distinct one."""
    exact = any(level.exact_eigenvalues for level in levels)
    explained = (
        f"Eigenvalues of the operator are those of {spec.geometry.operator_in_words}, as the "
        "graph estimates them."
    )
    columns = ["copies", "of Delta", "of the operator", *(["exact", "error"] if exact else [])]
    groups = [
        Group(_eigenvalue_rows(level, exact=exact), _level_title(level))
        for level in levels
        if level.eigenvalues
    ]
    made = table("eigenvalues", "The smallest eigenvalues", columns, groups)
    said = element("p", powers(explained))
    return joined([element("h3", "Spectrum"), said, made])


def _level_title(level: LevelReport) -> str:
    more = len(level.multiplicities) - MOST_EIGENVALUES
    others = f"; {more:,} more are in the JSON report" if more > 0 else ""
    return f"level {level.level}{others}"


def _eigenvalue_rows(level: LevelReport, *, exact: bool) -> list[Row]:
    ends = list(itertools.accumulate(level.multiplicities))
    rows: list[Row] = []
    for copies, end in list(zip(level.multiplicities, ends, strict=True))[:MOST_EIGENVALUES]:
        value = float(np.mean(level.eigenvalues[end - copies : end]))
        more = "or more" if end == len(level.eigenvalues) < level.vertices else ""
        scale = level.eigenvalue_scale
        row = [f"{copies} {more}".rstrip(), f"{value:.6g}"]
        row.append(UNKNOWN if scale is None else f"{value * scale:.6g}")
        if exact:
            row += _compared(level, slice(end - copies, end), value)
        rows.append(row)
    return rows


def _compared(level: LevelReport, group: slice, value: float) -> list[str]:
    """The exact eigenvalue, and the error of the graph's."""
    scale = level.eigenvalue_scale
    if not level.exact_eigenvalues or scale is None:
        return [UNKNOWN, UNKNOWN]
    true = float(np.mean(level.exact_eigenvalues[group]))
    error = f"{value * scale / true - 1:+.1%}".replace("%", " %") if true else ""
    return [f"{true:.6g}", error]
