"""The facts that a published version records of itself, read in one place and checked.

All commands read them here, so nothing computes with a number that contradicts the specification or
another number. Facts unknown to this version of the package are left out; a later minor number of
the schema is refused. Only the standard library is imported here, so that listing a store is
instant; `agreement` compares the facts with the arrays.
"""

import datetime as dt
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.quoting import quoted
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.directional import DIRECTIONS
from cheblienet_graphs.store import layout

LARGEST_COUNT = 2**63 - 1
LARGEST = 1e15
"""Largest lambda_max, t and xi."""
ROUNDING = 1e-9
"""Largest relative difference of a number between two machines."""
SHA256 = re.compile(r"[0-9a-f]{64}")
TEXT = re.compile(r"[ -~]{1,64}")
PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}")
LONGEST_PATH = 255
METHODS = ("lanczos", "bound")


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


def _version(attributes: layout.Attributes) -> VersionFacts:
    raw = _mapping("spec", attributes.get("spec"))
    spec, digest = _spec(raw), _text("spec_sha256", attributes.get("spec_sha256"), SHA256)
    if digest != _digest(raw):
        raise _WrongFactError("spec_sha256 is not the digest of its spec")
    levels = attributes.get("levels")
    if not isinstance(levels, list) or len(levels) != spec.levels:
        raise _WrongFactError(
            f"levels must be a list of {spec.levels}, as its spec says. Got {quoted(levels)}"
        )
    generator = _mapping("generator", attributes.get("generator"))
    return VersionFacts(
        spec,
        digest,
        MappingProxyType(
            {key: _text(f"generator.{key}", generator.get(key)) for key in ("name", "version")}
        ),
        _time("created", attributes.get("created")),
        tuple(_level(spec, number, facts) for number, facts in enumerate(levels)),
        MappingProxyType(dict(_files(_mapping("manifest", attributes.get("manifest"))))),
        _text("attributes_sha256", attributes.get("attributes_sha256"), SHA256),
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
        _same(f"spec.{name}", known.get(name), normal.get(name))
    return spec


def _level(spec: GraphSpec, number: int, value: Any) -> LevelFacts:
    """The facts of a level, each compared with the spec and the other facts."""
    name = f"levels[{number}]"
    facts = _mapping(name, value)

    def fact(key: str) -> tuple[str, Any]:
        if key not in facts:
            raise _WrongFactError(f"{name} lacks {key}")
        return f"{name}.{key}", facts[key]

    grid = spec.grid(number)
    vertices = spec.orientations * spec.base_points(number)
    _same(*fact("grid"), list(grid))
    _same(*fact("vertices"), vertices)
    edges = _integer(*fact("edges"), 1, vertices * (vertices - 1) // 2)
    _same(*fact("nnz"), 2 * edges + vertices)
    xi = _xi(spec, number, *fact("xi"))
    xi_squared = _near(*fact("xi_squared"), None if xi is None else xi * xi)
    return LevelFacts(
        grid=grid,
        vertices=vertices,
        edges=edges,
        nnz=2 * edges + vertices,
        isolated=_integer(*fact("isolated"), 0, vertices - 2),
        dropped_edges=_integer(*fact("dropped_edges"), 0, LARGEST_COUNT),
        in_plane_fraction=_in_plane(spec, *fact("in_plane_fraction")),
        xi=xi,
        xi_squared=xi_squared,
        bandwidth=_bandwidth(spec, *fact("bandwidth")),
        lambda_max=_lambda_max(spec, *fact("lambda_max")),
        lambda_max_method=_word(*fact("lambda_max_method"), METHODS),
        eigenvalue_scale=_eigenvalue_scale(
            spec, f"{name}.eigenvalue_scale", facts.get("eigenvalue_scale")
        ),
        directional=_directional(spec, vertices, f"{name}.directional", facts.get("directional")),
    )


def _directional(
    spec: GraphSpec, vertices: int, name: str, value: Any
) -> dict[str, OperatorFacts] | None:
    if spec.directional is None:
        return None
    given = _mapping(name, value)
    if sorted(given) != sorted(DIRECTIONS):
        raise _WrongFactError(f"{name} must have {', '.join(DIRECTIONS)}. Got {quoted([*given])}")
    most = vertices * (vertices - 1) // 2
    found = {}
    for direction in DIRECTIONS:
        place = f"{name}.{direction}"
        facts = _mapping(place, given[direction])
        edges = _integer(f"{place}.edges", facts.get("edges"), 1, most)
        _same(f"{place}.nnz", facts.get("nnz"), 2 * edges + vertices)
        found[direction] = OperatorFacts(
            edges,
            2 * edges + vertices,
            _number(f"{place}.lambda_max", facts.get("lambda_max"), 0, LARGEST),
            _word(f"{place}.lambda_max_method", facts.get("lambda_max_method"), METHODS),
        )
    return found


def _xi(spec: GraphSpec, number: int, name: str, value: Any) -> float | None:
    """The metric's xi, which follows from the spec unless it was solved for."""
    if spec.xi == "auto":
        return _number(name, value, 1 / LARGEST, LARGEST)
    return _near(name, value, spec.metric(number).xi if spec.geometry.oriented else None)


def _in_plane(spec: GraphSpec, name: str, value: Any) -> float:
    share = _number(name, value, 0, 1)
    if spec.orientations == 1:
        _near(name, value, 1.0)
    return share


def _bandwidth(spec: GraphSpec, name: str, value: Any) -> float | None:
    if spec.kernel is None:
        _same(name, value, None)
        return None
    return _number(name, value, 0, LARGEST)


def _lambda_max(spec: GraphSpec, name: str, value: Any) -> float:
    """At most 2 for normalized Laplacians, and 2 where that was asked for."""
    if spec.lambda_max == 2:
        _near(name, value, 2.0)
    return _number(name, value, 0, 2 + ROUNDING if spec.laplacian == "normalized" else LARGEST)


def _eigenvalue_scale(spec: GraphSpec, name: str, value: Any) -> float | None:
    """1 where eigenvalues of Delta are the operator's; not recorded by older versions."""
    if value is None:
        return None
    if spec.weights != "kernel" and spec.laplacian == "combinatorial" and spec.mask is None:
        return _near(name, value, 1.0)
    return _number(name, value, 0, LARGEST)


def _files(manifest: Mapping[str, Any]) -> Iterator[tuple[str, FileFacts]]:
    for key, value in manifest.items():
        if not PATH.fullmatch(key) or len(key) > LONGEST_PATH:
            raise _WrongFactError(f"manifest has {quoted(key)}, which is no path of a version")
        entry = _mapping(f"manifest entry {key}", value)
        yield (
            key,
            FileFacts(
                _text(f"manifest entry {key}.sha256", entry.get("sha256"), SHA256),
                _integer(f"manifest entry {key}.nbytes", entry.get("nbytes"), 0, LARGEST_COUNT),
            ),
        )


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _WrongFactError(f"{name} must be an object. Got {quoted(value)}")
    return value


def _text(name: str, value: Any, pattern: re.Pattern[str] = TEXT) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        form = "64 lower-case hexadecimal digits" if pattern is SHA256 else "a short text"
        raise _WrongFactError(f"{name} must be {form}. Got {quoted(value)}")
    return value


def _word(name: str, value: Any, accepted: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in accepted:
        raise _WrongFactError(f"{name} must be one of {', '.join(accepted)}. Got {quoted(value)}")
    return value


def _time(name: str, value: Any) -> str:
    text = _text(name, value)
    try:
        zoned = dt.datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        zoned = False
    if not zoned:
        raise _WrongFactError(f"{name} must be a time with its zone. Got {quoted(value)}")
    return text


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise _WrongFactError(f"{name} must be an integer in [{low}, {high}]. Got {quoted(value)}")
    return value


def _number(name: str, value: Any, low: float, high: float) -> float:
    """A finite number above `low`; a share, in [0, 1], may be 0 too."""
    is_number = type(value) in {int, float}
    if not is_number or not (low <= value <= high if high == 1 else low < value <= high):
        bracket = "[" if high == 1 else "("
        raise _WrongFactError(
            f"{name} must be a number in {bracket}{low:g}, {high:g}]. Got {quoted(value)}"
        )
    return float(value)


def _same(name: str, value: Any, expected: Any) -> None:
    """Raise an error unless this is exactly the expected JSON value."""
    if not _alike(value, expected):
        raise _WrongFactError(f"{name} must be {quoted(expected)}. Got {quoted(value)}")


def _alike(value: Any, expected: Any) -> bool:
    """Whether two JSON values other than objects are equal; 1, 1.0 and true differ."""
    if type(value) is not type(expected):
        return False
    if isinstance(value, list):
        return len(value) == len(expected) and all(map(_alike, value, expected))
    return bool(value == expected)


def _near(name: str, value: Any, expected: float | None) -> float | None:
    """The number, which must be the expected one up to rounding."""
    if expected is None:
        _same(name, value, None)
        return None
    is_number = type(value) in {int, float} and abs(value) <= LARGEST**2
    if not is_number or not math.isclose(value, expected, rel_tol=ROUNDING):
        raise _WrongFactError(f"{name} must be {expected:.12g}. Got {quoted(value)}")
    return float(value)


def _digest(value: Mapping[str, Any]) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
