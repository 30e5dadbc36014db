"""The facts that a published version records of itself, read in one place and checked.

All commands read them here, so nothing computes with a number that contradicts the specification or
another number. Facts unknown to this version of the package are left out; a later minor number of
the schema is refused. `agreement` compares the facts with the arrays.
"""

import datetime as dt
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.quoting import quoted
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.edges import DIRECTIONS
from cheblienet_graphs.store import layout

LARGEST_COUNT = 2**63 - 1
LARGEST = 1e15
"""Largest lambda_max, t and xi."""
ROUNDING = 1e-9
"""Largest relative difference of a number between two machines."""
PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}")
LONGEST_PATH = 255
NUMBERS = {"in_plane_fraction", "xi", "xi_squared", "bandwidth", "lambda_max", "eigenvalue_scale"}
"""Facts of levels that may be no integers."""


@dataclass(frozen=True)
class OperatorFacts:
    """The facts of a directional Laplacian, as those of the same names of a level's own."""

    edges: int
    nnz: int
    lambda_max: float
    lambda_max_method: str


@dataclass(frozen=True)
class LevelFacts(Mapping[str, Any]):
    """The facts of a level; `facts["edges"]` is `facts.edges`.

    `xi` and `xi_squared` are None without orientations. `grid` is the shape of a signal,
    orientations first: (n_o, height, width) on a lattice; that of the full sampling where the graph
    has a mask. `bandwidth` is None where there is no kernel; `dropped_edges` counts edges whose
    matched weight came out 0; `eigenvalue_scale` times eigenvalues of Delta estimates the
    operator's, None where that could not be measured, or the version is older than this fact;
    `directional` is None where there are no directional Laplacians.
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

    def to_dict(self) -> dict[str, Any]:
        """JSON types; directional Laplacians are left out where there are none."""
        facts = asdict(self)
        if self.directional is None:
            del facts["directional"]
        return facts

    def __getitem__(self, name: str) -> Any:
        if name in _LEVEL_FACTS:
            return getattr(self, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_LEVEL_FACTS)

    def __len__(self) -> int:
        return len(_LEVEL_FACTS)


_LEVEL_FACTS = tuple(field.name for field in fields(LevelFacts))


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
    """A wrong fact; the message has its name, what it must be, and what it is."""


@dataclass(frozen=True)
class _Rule:
    """The values that a fact may have, and these in words."""

    accepts: Callable[[Any], bool]
    words: str

    def of(self, name: str, value: Any) -> Any:
        """The value itself, if it is accepted."""
        if not self.accepts(value):
            raise _WrongFactError(f"{name} must be {self.words}. Got {quoted(value)}")
        return value


def _integer(low: int, high: int) -> _Rule:
    words = f"an integer in [{low}, {high}]"
    return _Rule(lambda value: type(value) is int and low <= value <= high, words)


def _number(low: float, high: float) -> _Rule:
    """A finite number above `low`."""
    words = f"a number in ({low:g}, {high:g}]"
    return _Rule(lambda value: type(value) in {int, float} and low < value <= high, words)


def _text(pattern: str, words: str) -> _Rule:
    return _Rule(lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value)), words)


def _exactly(expected: Any) -> _Rule:
    """The same JSON value; 1, 1.0 and true differ."""
    return _Rule(lambda value: _json(value) == _json(expected), quoted(expected))


def _near(expected: float | None) -> _Rule:
    """The expected number, up to rounding."""
    if expected is None:
        return _exactly(None)

    def accepts(value: Any) -> bool:
        is_number = type(value) in {int, float} and abs(value) <= LARGEST**2
        return is_number and math.isclose(value, expected, rel_tol=ROUNDING)

    return _Rule(accepts, f"{expected:.12g}")


def _has_zone(value: Any) -> bool:
    try:
        return SHORT.accepts(value) and dt.datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


OBJECT = _Rule(lambda value: isinstance(value, dict), "an object")
SHORT = _text(r"[ -~]{1,64}", "a short text")
SHA256 = _text(r"[0-9a-f]{64}", "64 lower-case hexadecimal digits")
TIME = _Rule(_has_zone, "a time with its zone")
METHOD = _text("lanczos|bound", "one of lanczos, bound")
SHARE = _Rule(lambda value: type(value) in {int, float} and 0 <= value <= 1, "a number in [0, 1]")
COUNT = _integer(0, LARGEST_COUNT)
SIZE = _number(0, LARGEST)


def _version(attributes: layout.Attributes) -> VersionFacts:
    raw = OBJECT.of("spec", attributes.get("spec"))
    spec, digest = _spec(raw), SHA256.of("spec_sha256", attributes.get("spec_sha256"))
    if digest != hashlib.sha256(_json(raw).encode()).hexdigest():
        raise _WrongFactError("spec_sha256 is not the digest of its spec")
    levels = attributes.get("levels")
    if not isinstance(levels, list) or len(levels) != spec.levels:
        raise _WrongFactError(
            f"levels must be a list of {spec.levels}, as its spec says. Got {quoted(levels)}"
        )
    generator = OBJECT.of("generator", attributes.get("generator"))
    names = {key: SHORT.of(f"generator.{key}", generator.get(key)) for key in ("name", "version")}
    return VersionFacts(
        spec,
        digest,
        MappingProxyType(names),
        TIME.of("created", attributes.get("created")),
        tuple(_level(spec, number, facts) for number, facts in enumerate(levels)),
        MappingProxyType(dict(_files(OBJECT.of("manifest", attributes.get("manifest"))))),
        SHA256.of("attributes_sha256", attributes.get("attributes_sha256")),
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
        _exactly(normal.get(name)).of(f"spec.{name}", known.get(name))
    return spec


def _level(spec: GraphSpec, number: int, value: Any) -> LevelFacts:
    """The facts of a level, each compared with the spec and the other facts."""
    name = f"levels[{number}]"
    facts = OBJECT.of(name, value)
    vertices = spec.orientations * spec.base_points(number)
    rules = _operator_rules(facts, vertices) | {
        "grid": _exactly(list(spec.grid(number))),
        "vertices": _exactly(vertices),
        "isolated": _integer(0, vertices - 2),
        "dropped_edges": COUNT,
        "in_plane_fraction": SHARE if spec.orientations > 1 else _near(1.0),
        **_metric_rules(spec, number, facts.get("xi")),
        "bandwidth": _exactly(None) if spec.kernel is None else SIZE,
        "lambda_max": _lambda_max(spec),
    }
    for key in rules:
        if key not in facts:
            raise _WrongFactError(f"{name} lacks {key}")
    if facts.get("eigenvalue_scale") is not None:  # not recorded by older versions
        plain = spec.weights != "kernel" and spec.laplacian == "combinatorial"
        rules["eigenvalue_scale"] = _near(1.0) if plain and spec.mask is None else SIZE
    read = _read(name, facts, rules)
    directional = _directional(spec, vertices, f"{name}.directional", facts.get("directional"))
    return LevelFacts(**read | {"grid": tuple(read["grid"]), "directional": directional})


def _read(name: str, facts: Mapping[str, Any], rules: Mapping[str, _Rule]) -> dict[str, Any]:
    """The facts by their rules; numbers that may be no integers as floats."""
    read = {key: rule.of(f"{name}.{key}", facts.get(key)) for key, rule in rules.items()}
    return read | {key: float(read[key]) for key in NUMBERS & rules.keys() if read[key] is not None}


def _operator_rules(facts: Mapping[str, Any], vertices: int) -> dict[str, _Rule]:
    edges, value = _integer(1, vertices * (vertices - 1) // 2), facts.get("edges")
    nnz = 2 * value + vertices if value is not None and edges.accepts(value) else None
    return {
        "edges": edges,
        "nnz": _exactly(nnz),
        "lambda_max": SIZE,
        "lambda_max_method": METHOD,
    }


def _metric_rules(spec: GraphSpec, number: int, xi: Any) -> dict[str, _Rule]:
    """Xi follows from the spec unless it was solved for; its square follows from it."""
    if spec.xi == "auto":
        solved = _number(1 / LARGEST, LARGEST)
        return {"xi": solved, "xi_squared": _near(xi * xi if solved.accepts(xi) else None)}
    known = spec.metric(number).xi if spec.geometry.oriented else None
    return {"xi": _near(known), "xi_squared": _near(None if known is None else known * known)}


def _lambda_max(spec: GraphSpec) -> _Rule:
    """At most 2 for normalized Laplacians, and 2 where that was asked for."""
    if spec.lambda_max == 2:
        return _near(2.0)
    return _number(0, 2 + ROUNDING) if spec.laplacian == "normalized" else SIZE


def _directional(
    spec: GraphSpec, vertices: int, name: str, value: Any
) -> dict[str, OperatorFacts] | None:
    if spec.directional is None:
        return None
    given = OBJECT.of(name, value)
    if sorted(given) != sorted(DIRECTIONS):
        raise _WrongFactError(f"{name} must have {', '.join(DIRECTIONS)}. Got {quoted([*given])}")
    operators = {}
    for direction in DIRECTIONS:
        facts = OBJECT.of(f"{name}.{direction}", given[direction])
        rules = _operator_rules(facts, vertices)
        operators[direction] = OperatorFacts(**_read(f"{name}.{direction}", facts, rules))
    return operators


def _files(manifest: Mapping[str, Any]) -> Iterator[tuple[str, FileFacts]]:
    for key, value in manifest.items():
        if not PATH.fullmatch(key) or len(key) > LONGEST_PATH:
            raise _WrongFactError(f"manifest has {quoted(key)}, which is no path of a version")
        name = f"manifest entry {key}"
        yield key, FileFacts(**_read(name, OBJECT.of(name, value), FILE))


FILE = {"sha256": SHA256, "nbytes": COUNT}


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
