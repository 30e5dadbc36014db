"""Checks of the graphs that were built, which a user must know of, at next to no cost.

No eigenproblem is solved, and no pass is made over a lattice; `inspect` knows more.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cheblienet_graphs.assembly.level import Level
from cheblienet_graphs.errors import Remedy
from cheblienet_graphs.manifolds import Metric
from cheblienet_graphs.neighbours.connected import Components, lattice_components
from cheblienet_graphs.neighbours.stencil import reach
from cheblienet_graphs.report import diagnostics
from cheblienet_graphs.report.findings import Finding, Spell, lines
from cheblienet_graphs.report.moments import WeightedLevel, effective_metrics, probes
from cheblienet_graphs.report.second_moments import closeness, faults, remedy
from cheblienet_graphs.samplings.protocol import Sampling
from cheblienet_graphs.samplings.sampled import SampledManifold
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store.facts import LevelFacts
from cheblienet_graphs.store.reader import MappedWeights, mapped_array
from cheblienet_graphs.typing import Indices

COUNTED_ENTRIES = 2**23
"""Stored entries of a masked lattice whose components are counted, which takes a pass over all."""
EDGES = 2**15
"""Edges whose second moments are looked at off lattices: those of points drawn at random."""


LARGE_CELL = 10.0
"""Areas of own points, in units of their mean, from which their Voronoi cells cover a void."""


@dataclass(frozen=True)
class LevelCheck:
    """A level's second moments, components and isolated vertices, as a build knows them.

    Args:
        level: its number.
        moments_consistent: whether second moments are those of the metric; None where the lattice
            is so small that no pixel is far from its boundary.
        finding: that with causes and a remedy; `moments` is that in words.
        components: connected ones; None where counting would have taken long, then
        least_components: says how many there are at least.
        isolated: vertices without neighbours.
        largest_cell: of the Voronoi cells of points of one's own, in units of their mean; None
            where areas are not such cells.
    """

    level: int
    moments_consistent: bool | None
    finding: Finding
    components: int | None
    least_components: int
    isolated: int
    largest_cell: float | None = None

    @property
    def moments(self) -> str:
        """The second moments in words, with a remedy."""
        return str(self.finding)

    def to_json(self, spell: Spell = str) -> dict[str, Any]:
        """All of it as JSON types, the finding as words; `spell` writes parameters."""
        fields = asdict(self)
        del fields["finding"]
        return fields | {"moments": self.finding.sentence(spell)}


def check(level: Level, version: Path, facts: LevelFacts) -> LevelCheck:
    """Look at a level that has just been published.

    Args:
        level: it.
        version: folder of the version.
        facts: recorded of the level.
    """
    folder = version / "levels" / str(level.number)
    weights = _weights(level, folder, facts.lambda_max)
    consistent, moments = _moments(level, folder, weights, facts.xi)
    if level.spec.sampling_kind.regular and level.inside is None:
        found = lattice_components(level.neighbours.by_stencils)
    elif level.spec.sampling_kind.regular and facts.nnz > COUNTED_ENTRIES:
        found = Components(1, None)
    else:
        count = diagnostics.components(weights.laplacian)
        found = Components(count, count)
    least = max(found.least, facts.isolated)
    own_points = level.spec.coordinates
    cells = own_points is not None and own_points.areas == "voronoi"
    return LevelCheck(
        level.number,
        consistent,
        moments,
        found.exact,
        least,
        isolated=facts.isolated,
        largest_cell=float(mapped_array(folder / "area").max()) if cells else None,
    )


def sentences(spec: GraphSpec, checks: Sequence[LevelCheck], spell: Spell = str) -> list[str]:
    """A line for each thing to know, with the levels of which it holds.

    Args:
        spec: of the build.
        checks: of its levels.
        spell: writes parameters.
    """
    findings = [finding for level in checks for finding in _findings(spec, level)]
    return lines(findings, [level.level for level in checks], spell)


def _findings(spec: GraphSpec, level: LevelCheck) -> Iterator[Finding]:
    at = (level.level,)
    yield level.finding
    if level.isolated:
        yield Finding("isolated", at, {"count": level.isolated})
    if level.components is None and level.least_components > 1:
        yield Finding("at least", at, {"count": level.least_components})
    elif level.components is None:
        yield Finding("not counted", at)
    elif level.components > 1:
        yield Finding("components", at, {"count": level.components})
    else:
        yield Finding("one component", at)
    if level.largest_cell is not None and level.largest_cell > LARGE_CELL:
        times = {"times": level.largest_cell}
        if spec.geometry.oriented:
            yield Finding("large cells, xi", at, times, (Remedy("xi"),))
        else:
            yield Finding("large cells", at, times)


def _weights(level: Level, folder: Path, lambda_max: float) -> MappedWeights:
    """W, without the checks of a reader that did not write it."""
    import scipy.sparse  # slow to import, help does without

    parts = tuple(mapped_array(folder / "laplacian" / p) for p in ("data", "indices", "indptr"))
    laplacian = scipy.sparse.csr_array(parts, shape=(level.num_vertices, level.num_vertices))
    mass = {"normalized": "degree", "combinatorial": "area"}[level.spec.laplacian]
    return MappedWeights(laplacian, lambda_max, mapped_array(folder / mass))


def _moments(
    level: Level, folder: Path, weights: MappedWeights, xi: float | None
) -> tuple[bool | None, Finding]:
    """Whether second moments are those of the metric, with causes and a remedy."""
    at = (level.number,)
    spec, sampling = level.spec, level.sampling
    if level.inside is None and _too_small(level):
        return None, Finding("small lattice", at)
    metric = Metric(spec.eps, xi or 0.0)
    arrays = (mapped_array(folder / name) for name in ("coordinates", "degree"))
    sampled = SampledManifold(sampling, spec.geometry, metric)
    weighted = WeightedLevel(spec, sampled, weights, *arrays)
    free = probes(weighted)
    if not len(free):
        return None, Finding("all at the edge", at)
    looked_at = _some(free, sampling, weights)
    metrics = effective_metrics(weighted, looked_at)
    some = ""
    if not spec.sampling_kind.regular and len(looked_at) < len(free):
        some = ", looking at some points"
    if not (causes := faults(spec, metric, metrics)):
        close = closeness(spec, metric, metrics)
        return True, Finding("moments", at, {"close": close, "some": some})
    advice = remedy(spec, sampled, try_larger=False)
    return False, Finding("no moments", at, {"some": some}, (), tuple(causes), advice)


def _too_small(level: Level) -> bool:
    if not level.spec.sampling_kind.regular:
        return False
    engine = level.neighbours.by_stencils
    return min(engine.lattice.shape) <= 2 * max(reach(engine.stencils))


def _some(free: Indices, sampling: Sampling, weights: MappedWeights) -> Indices:
    """Some of these points, with not too many edges, drawn from a fixed seed."""
    count = max(1, int(EDGES * sampling.num_points / weights.laplacian.nnz))
    if count >= len(free):
        return free
    return np.sort(np.random.default_rng(0).choice(free, count, replace=False))
