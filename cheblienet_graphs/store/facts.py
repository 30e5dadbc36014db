"""The facts that published graphs record of themselves, read in one place and checked.

All commands read them here, so nothing computes with a number that contradicts the specification or
another number. Facts unknown to this version of the package are left out; a later minor number of
the schema is refused. `agreement` compares the facts with the arrays.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import StoreError
from cheblienet_graphs.gradients.source import units
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import DIRECTIONS
from cheblienet_graphs.store import layout, rules
from cheblienet_graphs.store.published import PublishedFacts, refusing, shared
from cheblienet_graphs.store.rules import Number, WrongFactError, checked, read
from cheblienet_graphs.typing import Floats


@dataclass(frozen=True)
class OperatorFacts:
    """The facts of a directional Laplacian, as those of the same names of a level's own."""

    edges: int
    nnz: int
    lambda_max: float
    lambda_max_method: str


@dataclass(frozen=True)
class GradientFacts:
    """The facts of a level's gradients.

    Args:
        nnz: entries of the matrices of all fields.
        symmetric_nnz: entries of their sums with their transposes.
        norms: bounds of the fields' spectral norms, per unit of length or radian, at least 0.
        spacings: what a step to a neighbor is along each: the points' mean spacing or, along the
            fiber, the step between orientations. Layers multiply by these.
        largest: the largest norm of a row, in units of 1 / these.
    """

    nnz: int
    symmetric_nnz: int
    norms: tuple[float, ...]
    spacings: tuple[float, ...]
    largest: float


@dataclass(frozen=True)
class LevelFacts(Mapping[str, Any]):
    """The facts of a level; `facts["edges"]` is `facts.edges`.

    `xi` and `xi_squared` are None without orientations. `grid` is the shape of a signal,
    orientations first: (n_o, height, width) on a lattice; that of the full sampling where the graph
    has a mask. `bandwidth` is None where there is no kernel; `dropped_edges` counts edges whose
    matched weight came out 0; `eigenvalue_scale` times eigenvalues of Delta estimates the
    operator's, None where that could not be measured, or the version is older than this fact;
    `directional` is None where there are no directional Laplacians, `gradients` where there are
    none.
    """

    grid: tuple[int, ...]
    vertices: int
    edges: int
    nnz: int
    isolated: int
    dropped_edges: int
    in_plane_fraction: float
    xi: float | None
    xi_squared: float | None
    bandwidth: float | None
    lambda_max: float
    lambda_max_method: str
    eigenvalue_scale: float | None = None
    directional: dict[str, OperatorFacts] | None = None
    gradients: GradientFacts | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON types; directional Laplacians and gradients are left out where there are none."""
        facts = asdict(self)
        for name in ("directional", "gradients"):
            if facts[name] is None:
                del facts[name]
        return facts

    def __getitem__(self, name: str) -> Any:
        return vars(self)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(vars(self))

    def __len__(self) -> int:
        return len(vars(self))


@dataclass(frozen=True)
class VersionFacts(PublishedFacts):
    """The facts of a graph's version.

    Args:
        spec: of the build.
        levels: finest first.
    """

    spec: GraphSpec
    levels: tuple[LevelFacts, ...]


def read_facts(version: Path) -> VersionFacts:
    """The facts of a published graph.

    Raises:
        StoreError: they are missing, of another form than ours, contradict each other, or are those
            of a map.
    """
    attributes = layout.check_version(version)
    with refusing(attributes, str(version)):
        if layout.MAP in attributes:
            raise StoreError(f"{version} is a map between samplings, where a graph is needed.")
        return graph_facts(attributes)


def _has_directions(value: Any) -> bool:
    return rules.is_object(value) and sorted(value) == sorted(DIRECTIONS)


def graph_facts(attributes: layout.Attributes) -> VersionFacts:
    """The facts in the attributes of a graph's version.

    Raises:
        WrongFactError: one is of another form than ours, or contradicts another.
    """
    common = shared(attributes, GraphSpec)
    spec, levels = common["spec"], attributes.get("levels")
    checked("levels", levels, lambda value: isinstance(value, list) and len(value) == spec.levels)
    each = tuple(_level(spec, number, facts) for number, facts in enumerate(levels or ()))
    return VersionFacts(**common, levels=each)


def _level(spec: GraphSpec, number: int, facts: Any) -> LevelFacts:
    """The facts of a level, each compared with the spec and the other facts."""
    name = f"levels[{number}]"
    checked(name, facts, rules.is_object)
    vertices = spec.orientations * spec.base_points(number)
    most = 2 + rules.ROUNDING if spec.laplacian == "normalized" else rules.LARGEST
    expected = _operator_rules(facts, vertices) | {
        "grid": list(spec.grid(number)),
        "vertices": vertices,
        "isolated": rules.is_integer(0, vertices - 2),
        "dropped_edges": rules.COUNT,
        "in_plane_fraction": Number(rules.FROM_0, 1) if spec.orientations > 1 else 1.0,
        **_metric_rules(spec, number, facts.get("xi")),
        "bandwidth": None if spec.kernel is None else rules.SIZE,
        "lambda_max": 2.0 if spec.lambda_max == 2 else Number(0, most),
    }
    if lacking := sorted(expected.keys() - facts.keys()):
        raise WrongFactError(f"{name} lacks {lacking[0]}")
    if facts.get("eigenvalue_scale") is not None:  # not recorded by older versions
        plain = spec.weights != "kernel" and spec.laplacian == "combinatorial"
        expected["eigenvalue_scale"] = 1.0 if plain and spec.mask is None else rules.SIZE
    of_level = read(name, facts, expected)
    if spec.directional is not None:
        known = checked(f"{name}.directional", facts.get("directional"), _has_directions)
        of_level["directional"] = {
            direction: _operator(f"{name}.directional.{direction}", known[direction], vertices)
            for direction in DIRECTIONS
        }
    if spec.gradients:
        known = facts.get("gradients")
        of_level["gradients"] = _gradients(f"{name}.gradients", units(spec, number), known)
    return LevelFacts(**of_level)


def _operator_rules(facts: Mapping[str, Any], vertices: int) -> dict[str, Any]:
    edges, value = rules.is_integer(1, vertices * (vertices - 1) // 2), facts.get("edges")
    return {
        "edges": edges,
        "nnz": 2 * value + vertices if value is not None and edges(value) else None,
        "lambda_max": rules.SIZE,
        "lambda_max_method": rules.is_text("lanczos|bound"),
    }


def _metric_rules(spec: GraphSpec, number: int, xi: Any) -> dict[str, Any]:
    """Xi follows from the spec unless it was solved for; its square follows from it."""
    if spec.xi == "auto":
        solved = Number(1 / rules.LARGEST, rules.LARGEST)
        return {"xi": solved, "xi_squared": float(xi * xi) if solved(xi) else None}
    known = spec.metric(number).xi if spec.geometry.oriented else None
    return {"xi": known, "xi_squared": None if known is None else known * known}


def _operator(name: str, facts: Any, vertices: int) -> OperatorFacts:
    expected = _operator_rules(checked(name, facts, rules.is_object), vertices)
    return OperatorFacts(**read(name, facts, expected))


def _gradients(name: str, spacings: Floats, facts: Any) -> GradientFacts:
    norm = Number(rules.FROM_0, rules.LARGEST)  # 0 where all vanish: two pixels around a torus
    expected = {
        "nnz": rules.COUNT,
        "symmetric_nnz": rules.COUNT,
        "norms": [norm] * len(spacings),
        "spacings": spacings.tolist(),
        "largest": norm,
    }
    return GradientFacts(**read(name, facts, expected))
