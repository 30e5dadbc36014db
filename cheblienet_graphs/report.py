"""The report on a published graph: one object behind the terminal, JSON and the tests."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cheblienet_graphs import diagnostics, words
from cheblienet_graphs.diagnostics import EffectiveMetric
from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours import Floats
from cheblienet_graphs.samplings.levels import sampling
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spectrum import exact
from cheblienet_graphs.spectrum.numeric import smallest_eigenpairs
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.reader import mapped_array, mapped_csr

MAX_EIGENVALUES = 1000
SPARSE_ENOUGH = 0.985
"""The paper's rule of thumb for the share of zeros."""
FAR_FROM_TARGET = 0.02
"""A miss of the in-plane fraction that deserves a remark."""


@dataclass(frozen=True)
class LevelReport:
    """One graph of the pyramid.

    Args:
        level: 0 is the finest.
        grid: shape of a signal, orientations first: (n_o, height, width) on a lattice.
        vertices: V.
        edges: undirected.
        nnz: stored entries of the Laplacian.
        sparsity: share of zeros of the Laplacian.
        degree: min, mean, max number of neighbours.
        isolated: vertices without neighbours.
        components: connected components.
        in_plane_fraction: share of edges within one orientation.
        xi, xi_squared: of the metric; None without orientations.
        bandwidth: t, in squared widths of the domain.
        lambda_max: an upper bound of the spectrum of Delta, by which the stored one is scaled.
        lambda_max_method: "lanczos", or "bound" for 2.
        eigenvalues: the smallest of Delta, ascending, multiplicities repeated.
        eigenvalues_converged: whether the solver reached its tolerance.
        exact_eigenvalues: those of the Laplace-Beltrami operator, in its units; None where none
            are known.
        effective_metric: what the weights realise, by orientation.
        equivariance: symmetry -> max |P'LP - L|; one that the sampling has only approximately says
            so in its name.
        weights: min, median, max of the edges.
    """

    level: int
    grid: tuple[int, ...]
    vertices: int
    edges: int
    nnz: int
    sparsity: float
    degree: dict[str, float]
    isolated: int
    components: int
    in_plane_fraction: float
    xi: float | None
    xi_squared: float | None
    bandwidth: float
    lambda_max: float
    lambda_max_method: str
    eigenvalues: list[float]
    eigenvalues_converged: bool
    exact_eigenvalues: list[float] | None
    effective_metric: list[EffectiveMetric]
    equivariance: dict[str, float]
    weights: dict[str, float]


@dataclass(frozen=True)
class Report:
    """A published version; `bytes` counts all of its files. str() is made for a terminal."""

    name: str
    version: str
    refs: tuple[str, ...]
    spec: GraphSpec
    spec_sha256: str
    generator: dict[str, str]
    created: str
    bytes: int
    levels: tuple[LevelReport, ...]

    def to_json(self) -> dict[str, Any]:
        """The report as JSON types."""
        return asdict(self) | {"spec": self.spec.to_dict()}

    def __str__(self) -> str:
        generator = f"{self.generator.get('name')} {self.generator.get('version')}"
        refs = f"  ({', '.join(self.refs)})" if self.refs else ""
        lines = [f"{self.name}@{self.version}{refs}"]
        lines += [f"  {sentence}" for sentence in words.sentences(self.spec)]
        size = words.human_bytes(self.bytes)
        lines.append(f"  {size}, built {self.created} by {generator}, spec {self.spec_sha256[:12]}")
        lines += ["", *_table(self)]
        if remarks := [remark for level in self.levels for remark in _remarks(self.spec, level)]:
            lines += ["", *remarks]
        return "\n".join(lines)


def inspect(
    store: str | Path,
    name: str | None = None,
    *,
    eigenvalues: int = 6,
    level: int | None = None,
) -> Report:
    """Examine a published graph.

    Args:
        store: path of the store.
        name: NAME, NAME@v001 or NAME@REF; may be left out where the store has one graph.
        eigenvalues: how many of the smallest to compute for each level, in [0, 1000].
        level: the only level to look at; default all.

    Raises:
        UnknownGraphError: there is no such graph.
        StoreError: it can't be read.
        SpecError: `level` or `eigenvalues` is out of range.
    """
    version = layout.resolve(Path(store).expanduser().absolute(), name)
    attributes = layout.check_version(version)
    try:
        spec = GraphSpec.from_dict(attributes["spec"])
        facts = attributes["levels"]
        found = (attributes["spec_sha256"], attributes["generator"], attributes["created"])
        nbytes = sum(entry["nbytes"] for entry in attributes["manifest"].values())
    except (KeyError, TypeError, AttributeError, SpecError) as error:
        raise StoreError(f"{version} has attributes of another form than ours: {error}.") from error
    if level is not None and not 0 <= level < spec.levels:
        raise SpecError("level", f"an integer in [0, {spec.levels - 1}]", level)
    if not 0 <= eigenvalues <= MAX_EIGENVALUES:
        raise SpecError("eigenvalues", f"an integer in [0, {MAX_EIGENVALUES}]", eigenvalues)
    return Report(
        version.parent.name,
        version.name,
        tuple(ref for ref, target in layout.refs(version.parent).items() if target == version.name),
        spec,
        *found,
        nbytes + (version / "zarr.json").stat().st_size,
        tuple(
            _level_report(version, spec, number, facts[number], eigenvalues)
            for number in range(spec.levels)
            if level in {None, number}
        ),
    )


def _level_report(
    version: Path, spec: GraphSpec, level: int, facts: dict[str, Any], count: int
) -> LevelReport:
    folder = version / "levels" / str(level)
    points, metric = sampling(spec, level), Metric(spec.eps, facts["xi"] or 0.0)
    laplacian = mapped_csr(folder / "laplacian")
    weights = diagnostics.edge_weights(
        laplacian, facts["lambda_max"], mapped_array(folder / "degree")
    )
    count = min(count, facts["vertices"])
    pairs = smallest_eigenpairs(laplacian, facts["lambda_max"], count) if count else None
    return LevelReport(
        level=level,
        sparsity=1 - facts["nnz"] / facts["vertices"] ** 2,
        degree=_statistics(np.diff(laplacian.indptr) - 1, "min", "mean", "max"),
        components=diagnostics.components(weights),
        eigenvalues=[] if pairs is None else pairs.values.tolist(),
        eigenvalues_converged=pairs is None or pairs.converged,
        exact_eigenvalues=_exact_eigenvalues(spec, metric, count),
        effective_metric=diagnostics.effective_metrics(weights, points, spec.geometry, metric),
        equivariance=diagnostics.equivariance_errors(laplacian, points),
        weights=_statistics(weights.data, "min", "median", "max"),
        **facts,
    )


def _exact_eigenvalues(spec: GraphSpec, metric: Metric, count: int) -> list[float] | None:
    if spec.boundary == "open":
        return None
    aspect = spec.size[1] / spec.size[0] if spec.size else 1.0
    known: dict[str, Callable[[], Floats]] = {
        "r2": lambda: exact.periodic_plane(count, aspect),
        "se2": lambda: exact.periodic_se2(count, metric, aspect),
        "s2": lambda: exact.sphere(count),
        "so3": lambda: exact.rotations(count, metric),
    }
    return list(map(float, known[spec.manifold]()))


def _statistics(values: npt.NDArray[Any], *names: str) -> dict[str, float]:
    functions: dict[str, Callable[[npt.NDArray[Any]], Any]] = {
        "min": np.min,
        "mean": np.mean,
        "median": np.median,
        "max": np.max,
    }
    return {name: float(functions[name](values)) for name in names}


def _table(report: Report) -> list[str]:
    rows = [("", [f"level {level.level}" for level in report.levels])]
    rows += [(title, [cell(level) for level in report.levels]) for title, cell in _ROWS]
    longest = max(len(level.eigenvalues) for level in report.levels)
    for index in range(longest):
        title = "eigenvalues of Delta" if index == 0 else ""
        rows.append((title, [_eigenvalue(level, index) for level in report.levels]))
    rows += _metric_rows(report)
    symmetries = dict.fromkeys(name for level in report.levels for name in level.equivariance)
    for name in symmetries:
        errors = [level.equivariance.get(name) for level in report.levels]
        title = f"|P'LP - L|, {name.replace('_', ' ')}"
        rows.append((title, ["-" if error is None else f"{error:.2g}" for error in errors]))
    first = max(len(title) for title, _ in rows)
    width = max(len(cell) for _, cells in rows for cell in cells)
    return [
        f"  {title:<{first}}  {'  '.join(f'{cell:>{width}}' for cell in cells)}"
        for title, cells in rows
    ]


_ROWS: list[tuple[str, Callable[[LevelReport], str]]] = [
    ("grid", lambda x: _grid(x)),
    ("vertices", lambda x: f"{x.vertices:,}"),
    ("edges", lambda x: f"{x.edges:,}"),
    ("stored entries", lambda x: f"{x.nnz:,}"),
    ("sparsity (paper: >= 98.5 %)", lambda x: f"{x.sparsity:.2%}".replace("%", " %")),
    (
        "degree, min / mean / max",
        lambda x: f"{x.degree['min']:.0f} / {x.degree['mean']:.1f} / {x.degree['max']:.0f}",
    ),
    ("in-plane fraction", lambda x: f"{x.in_plane_fraction:.3f}"),
    ("xi", lambda x: "-" if x.xi is None else f"{x.xi:.4g}"),
    ("bandwidth", lambda x: f"{x.bandwidth:.4g}"),
    (
        "weights, min / median / max",
        lambda x: " / ".join(f"{x.weights[name]:.2g}" for name in ("min", "median", "max")),
    ),
    ("lambda_max", lambda x: f"{x.lambda_max:.6f}"),
    ("isolated vertices", lambda x: f"{x.isolated:,}"),
    ("components", lambda x: f"{x.components:,}"),
]


def _grid(level: LevelReport) -> str:
    """As sizes are written: width x height x orientations."""
    orientations, *base = level.grid
    fibre = [] if level.xi is None else [orientations]
    return " x ".join(map(str, [*reversed(base), *fibre]))


def _eigenvalue(level: LevelReport, index: int) -> str:
    return f"{level.eigenvalues[index]:.6f}" if index < len(level.eigenvalues) else "-"


def _metric_rows(report: Report) -> list[tuple[str, list[str]]]:
    asked = f"{report.spec.eps**2:.4g}"
    realised = [
        [metric.eps_squared for metric in level.effective_metric] for level in report.levels
    ]
    rows = [(f"realised eps^2 (asked {asked})", [_range(values) for values in realised])]
    if report.spec.geometry.oriented:
        ratios = [
            [m.xi_squared / level.xi_squared for m in level.effective_metric if m.xi_squared]
            for level in report.levels
            if level.xi_squared
        ]
        rows.append(("realised xi^2 / asked", [_range(values) for values in ratios]))
    return rows


def _range(values: list[float | None] | list[float]) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    low, high = f"{min(known):.3g}", f"{max(known):.3g}"
    return low if low == high else f"{low} .. {high}"


def _remarks(spec: GraphSpec, level: LevelReport) -> list[str]:
    remarks = []
    target = spec.in_plane_fraction
    if target is not None and abs(level.in_plane_fraction - target) > FAR_FROM_TARGET:
        remarks.append(
            f"level {level.level}: in-plane fraction {level.in_plane_fraction:.3f}, asked for "
            f"{target:g}: the closest that any xi tried gives with these points and neighbours"
        )
    if level.sparsity < SPARSE_ENOUGH:
        remarks.append(
            f"level {level.level}: {level.sparsity:.2%} zeros, below the paper's rule of thumb"
        )
    if level.isolated:
        remarks.append(f"level {level.level}: {level.isolated:,} vertices have no neighbours")
    if level.components > 1:
        remedy = "more neighbours may link them"
        if spec.geometry.oriented:
            remedy = "a smaller alpha links orientations, a larger one links points"
        remarks.append(
            f"level {level.level}: falls into {level.components:,} components, between which no "
            f"signal passes; {remedy}"
        )
    if not level.eigenvalues_converged:
        remarks.append(f"level {level.level}: the eigenvalues are approximate, the solver gave up")
    return remarks
