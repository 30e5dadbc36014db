"""The facts that published versions record of themselves, read in one place and checked.

All commands read them here, so nothing computes with a number that contradicts the specification or
another number. Facts unknown to this version of the package are left out; a later minor number of
the schema is refused. `agreement` compares the facts with the arrays.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cheblienet_graphs.errors import SpecError, StoreError, UnreadableError
from cheblienet_graphs.gradients.source import units
from cheblienet_graphs.quoting import quoted
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import DIRECTIONS
from cheblienet_graphs.store import layout
from cheblienet_graphs.typing import Floats

LARGEST_COUNT = 2**63 - 1
LARGEST = 1e15
"""Largest lambda_max, t and xi."""
ROUNDING = 1e-9
"""Largest relative difference of a number between two machines."""
PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}")
LONGEST_PATH = 255
NUMBERS = {"in_plane_fraction", "xi", "xi_squared", "bandwidth", "lambda_max", "eigenvalue_scale"}
"""Facts of levels that may be no integers."""

Rule = Callable[[Any], bool]
"""Whether a fact may have a value."""


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
        norms: bounds of the fields' spectral norms, per unit of length or radian.
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
class FileFacts:
    """A file of a version, as it was published."""

    sha256: str
    nbytes: int


@dataclass(frozen=True)
class VersionFacts:
    """The facts of a version.

    Args:
        spec: of the build.
        spec_sha256: digest of the spec as the version records it.
        generator: name and version of the package that built it.
        created: time in ISO 8601 with a time zone.
        levels: finest first.
        files: manifest key -> file.
        sha256: digest of all attributes, as recorded.
    """

    spec: GraphSpec
    spec_sha256: str
    generator: Mapping[str, str]
    created: str
    levels: tuple[LevelFacts, ...]
    files: Mapping[str, FileFacts]
    sha256: str

    @property
    def nbytes(self) -> int:
        """Size of all files but the version's own metadata."""
        return sum(file.nbytes for file in self.files.values())


def read_facts(version: Path) -> VersionFacts:
    """The facts of a published version.

    Raises:
        StoreError: they are missing, of another form than ours, or contradict each other.
    """
    return checked_facts(layout.check_version(version), str(version))


def checked_facts(attributes: layout.Attributes, where: str) -> VersionFacts:
    """The facts in a version's attributes; `where` is their name in messages.

    Raises:
        StoreError: they are of another form than ours, or contradict each other.
    """
    layout.check_schema(attributes, where)
    try:
        return _version(attributes)
    except _WrongFactError as error:
        raise StoreError(
            f"{where} was changed or not written by cheblienet: its {error}. Import or build it "
            "again."
        ) from error


class _WrongFactError(Exception):
    """A wrong fact; the message has its name and what it is."""


def _checked(name: str, value: Any, rule: Any) -> Any:
    """The value itself, if it fits a rule: a `Rule`, or the value that it must be.

    Numbers are that value up to rounding; of other JSON values 1, 1.0 and true differ.
    """
    if callable(rule):
        fits = rule(value)
    elif isinstance(rule, float):
        fits = _number(0, LARGEST**2)(value) and math.isclose(value, rule, rel_tol=ROUNDING)
    else:
        fits = layout.same(value, rule)
    if not fits:
        raise _WrongFactError(f"{name} can't be {quoted(value)}")
    return value


def _integer(low: int, high: int) -> Rule:
    return lambda value: type(value) is int and low <= value <= high


def _number(low: float, high: float) -> Rule:
    """A finite number above `low`."""
    return lambda value: type(value) in {int, float} and low < value <= high


def _text(pattern: str) -> Rule:
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _has_directions(value: Any) -> bool:
    return _is_object(value) and sorted(value) == sorted(DIRECTIONS)


def _is_share(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value <= 1


def _is_time(value: Any) -> bool:
    try:
        return SHORT(value) and dt.datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


SHORT = _text(r"[ -~]{1,64}")
SHA256 = _text(r"[0-9a-f]{64}")
COUNT = _integer(0, LARGEST_COUNT)
SIZE = _number(0, LARGEST)
FILE = {"sha256": SHA256, "nbytes": COUNT}
GENERATOR = {"name": SHORT, "version": SHORT}


def _version(attributes: layout.Attributes) -> VersionFacts:
    def fact(name: str, rule: Any = _is_object) -> Any:
        return _checked(name, attributes.get(name), rule)

    raw, generator = fact("spec"), fact("generator")
    spec, digest = _spec(raw), layout.canonical_sha256(raw)
    levels = fact("levels", lambda value: isinstance(value, list) and len(value) == spec.levels)
    return VersionFacts(
        spec,
        fact("spec_sha256", digest),
        MappingProxyType(_read("generator", generator, GENERATOR)),
        fact("created", _is_time),
        tuple(_level(spec, number, facts) for number, facts in enumerate(levels)),
        MappingProxyType(dict(_files(fact("manifest")))),
        fact("attributes_sha256", SHA256),
    )


def _spec(raw: Mapping[str, Any]) -> GraphSpec:
    """The spec, if it is in the form of `GraphSpec.to_dict`; unknown fields are left out."""
    known = {name: raw[name] for name in raw.keys() & {field.name for field in fields(GraphSpec)}}
    try:
        spec = GraphSpec.from_dict(known)
    except (SpecError, TypeError) as error:
        raise _WrongFactError(f"spec is none: {error}") from error
    normal = spec.to_dict()
    for name in sorted(known.keys() | normal.keys()):
        _checked(f"spec.{name}", known.get(name), partial(layout.same, normal.get(name)))
    return spec


def _read(name: str, facts: Any, rules: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an object by their rules; numbers that may be no integers as floats."""
    _checked(name, facts, _is_object)
    read = {key: _checked(f"{name}.{key}", facts.get(key), rule) for key, rule in rules.items()}
    return read | {key: float(read[key]) for key in NUMBERS & rules.keys() if read[key] is not None}


def _level(spec: GraphSpec, number: int, facts: Any) -> LevelFacts:
    """The facts of a level, each compared with the spec and the other facts."""
    name = f"levels[{number}]"
    _checked(name, facts, _is_object)
    vertices = spec.orientations * spec.base_points(number)
    most = 2 + ROUNDING if spec.laplacian == "normalized" else LARGEST
    rules = _operator_rules(facts, vertices) | {
        "grid": list(spec.grid(number)),
        "vertices": vertices,
        "isolated": _integer(0, vertices - 2),
        "dropped_edges": COUNT,
        "in_plane_fraction": _is_share if spec.orientations > 1 else 1.0,
        **_metric_rules(spec, number, facts.get("xi")),
        "bandwidth": None if spec.kernel is None else SIZE,
        "lambda_max": 2.0 if spec.lambda_max == 2 else _number(0, most),
    }
    if lacking := sorted(rules.keys() - facts.keys()):
        raise _WrongFactError(f"{name} lacks {lacking[0]}")
    if facts.get("eigenvalue_scale") is not None:  # not recorded by older versions
        plain = spec.weights != "kernel" and spec.laplacian == "combinatorial"
        rules["eigenvalue_scale"] = 1.0 if plain and spec.mask is None else SIZE
    read = _read(name, facts, rules)
    if spec.directional is not None:
        known = _checked(f"{name}.directional", facts.get("directional"), _has_directions)
        read["directional"] = {
            direction: _operator(f"{name}.directional.{direction}", known[direction], vertices)
            for direction in DIRECTIONS
        }
    if spec.gradients:
        known = facts.get("gradients")
        read["gradients"] = _gradients(f"{name}.gradients", units(spec, number), known)
    return LevelFacts(**read | {"grid": tuple(read["grid"])})


def _operator_rules(facts: Mapping[str, Any], vertices: int) -> dict[str, Any]:
    edges, value = _integer(1, vertices * (vertices - 1) // 2), facts.get("edges")
    return {
        "edges": edges,
        "nnz": 2 * value + vertices if value is not None and edges(value) else None,
        "lambda_max": SIZE,
        "lambda_max_method": _text("lanczos|bound"),
    }


def _metric_rules(spec: GraphSpec, number: int, xi: Any) -> dict[str, Any]:
    """Xi follows from the spec unless it was solved for; its square follows from it."""
    if spec.xi == "auto":
        solved = _number(1 / LARGEST, LARGEST)
        return {"xi": solved, "xi_squared": xi * xi if solved(xi) else None}
    known = spec.metric(number).xi if spec.geometry.oriented else None
    return {"xi": known, "xi_squared": None if known is None else known * known}


def _operator(name: str, facts: Any, vertices: int) -> OperatorFacts:
    rules = _operator_rules(_checked(name, facts, _is_object), vertices)
    return OperatorFacts(**_read(name, facts, rules))


def _gradients(name: str, spacings: Floats, facts: Any) -> GradientFacts:
    sizes = _are_sizes(len(spacings))
    rules = {"nnz": COUNT, "symmetric_nnz": COUNT, "norms": sizes, "spacings": sizes}
    read = _read(name, facts, rules | {"largest": SIZE})
    for value, spacing in zip(read["spacings"], spacings.tolist(), strict=True):
        _checked(f"{name}.spacings", value, spacing)
    numbers = {of: tuple(map(float, read[of])) for of in ("norms", "spacings")}
    return GradientFacts(**read | numbers)


def _are_sizes(count: int) -> Rule:
    return lambda value: isinstance(value, list) and [*map(SIZE, value)] == [True] * count


def _files(manifest: Mapping[str, Any]) -> Iterator[tuple[str, FileFacts]]:
    for key, value in manifest.items():
        if not PATH.fullmatch(key) or len(key) > LONGEST_PATH:
            raise _WrongFactError(f"manifest has {quoted(key)}, which is no path of a version")
        yield key, FileFacts(**_read(f"manifest entry {key}", value, FILE))


@dataclass(frozen=True)
class Listed:
    """A published version: vertices of its levels, bytes of its files, and the refs naming it.

    Where it can't be read, `fault` is the reason, and the rest is empty.
    """

    name: str
    version: str
    refs: tuple[str, ...]
    vertices: tuple[int, ...]
    bytes: int
    created: str
    fault: str | None = None


def listing(store: str | Path) -> list[Listed]:
    """Every version of every graph of a store, by name and age, from JSON alone.

    Raises:
        UnknownGraphError: there is no store.
        StoreError: it can't be read.
    """
    store = layout.existing_store(store)
    return [
        _listed(store / name, version)
        for name in layout.graph_names(store)
        for version in layout.versions(store / name)
    ]


def _listed(graph: Path, version: str) -> Listed:
    names: tuple[str, ...] = ()
    try:
        names = tuple(ref for ref, target in layout.refs(graph).items() if target == version)
        facts = read_facts(graph / version)
    except (StoreError, UnreadableError) as error:
        return Listed(graph.name, version, names, (), 0, "", str(error))
    vertices = tuple(level.vertices for level in facts.levels)
    nbytes = facts.nbytes + (graph / version / "zarr.json").stat().st_size  # as in the report
    return Listed(graph.name, version, names, vertices, nbytes, facts.created)
