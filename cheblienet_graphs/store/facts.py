"""The facts that published versions record of themselves, read in one place and checked.

All commands read them here, so nothing computes with a number that contradicts the specification or
another number. Facts unknown to this version of the package are left out; a later minor number of
the schema is refused. `agreement` compares the facts with the arrays. What is of graphs alone comes
last; `map_facts` has what is of maps.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from cheblienet_graphs.errors import SchemaError, SpecError, StoreError, quoted
from cheblienet_graphs.limits import Range
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.fibers import field_spacings
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.store import layout, rules
from cheblienet_graphs.store.folder import DOCUMENT
from cheblienet_graphs.store.rules import Rule, checked, is_within, read
from cheblienet_graphs.typing import Floats
from cheblienet_graphs.weights.directional import DIRECTIONS

PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}")
LONGEST_PATH = 255

FILE = {"sha256": rules.SHA256, "nbytes": rules.COUNT}
GENERATOR = {"name": rules.SHORT, "version": rules.SHORT}
Spec = TypeVar("Spec", GraphSpec, MapSpec)


@dataclass(frozen=True)
class FileFacts:
    """A file of a version, as it was published."""

    sha256: str
    nbytes: int


@dataclass(frozen=True)
class PublishedFacts:
    """The facts of a version that do not depend on what it holds.

    Args:
        spec_sha256: digest of the spec as the version records it.
        generator: name and version of the package that built it.
        created: time in ISO 8601 with a time zone.
        files: manifest key -> file.
        sha256: digest of all attributes, as recorded.
        attributes: all of them, as they are.
    """

    spec_sha256: str
    generator: Mapping[str, str]
    created: str
    files: Mapping[str, FileFacts]
    sha256: str
    attributes: layout.Attributes

    @property
    def numbers_sha256(self) -> str:
        """Hex digest of all that modules compute with: the spec, the facts and the arrays.

        When and by what they were written is not in it, nor documents of arrays, where later
        versions of the package may say more: a build that gives the same bytes again has the same.
        """
        spec, levels, of_map, manifest = (
            self.attributes.get(key) for key in ("spec", "levels", layout.MAP, "manifest")
        )
        arrays = {k: v for k, v in (manifest or {}).items() if not k.endswith(DOCUMENT)}
        numbers = [spec, levels if of_map is None else of_map, arrays]
        return hashlib.sha256(layout.canonical(numbers).encode()).hexdigest()

    @property
    def nbytes(self) -> int:
        """Size of all files but the version's own metadata."""
        return sum(file.nbytes for file in self.files.values())


def shared(attributes: layout.Attributes, kind: type[Spec]) -> dict[str, Any]:
    """The facts of `PublishedFacts` and the spec, from the attributes of a version."""

    def fact(name: str, rule: Rule = rules.is_object) -> Any:
        return checked(name, attributes.get(name), rule)

    spec = _spec(kind, fact("spec"))
    digest = layout.canonical_sha256(fact("spec"))
    return {
        "spec": spec,
        "spec_sha256": checked("spec_sha256", attributes.get("spec_sha256"), digest),
        "generator": MappingProxyType(read("generator", fact("generator"), GENERATOR)),
        "created": fact("created", rules.is_time),
        "files": MappingProxyType(dict(_files(fact("manifest")))),
        "sha256": fact("attributes_sha256", rules.SHA256),
        "attributes": attributes,
    }


def _spec(kind: type[Spec], raw: Mapping[str, Any]) -> Spec:
    """The spec, if it is in the form of its `to_dict`; unknown fields are left out."""
    known = _known(raw, [field.name for field in fields(kind)])
    try:
        spec = kind.from_dict(known)
    except (SpecError, TypeError) as error:
        raise StoreError(f"spec is none: {error}") from error
    sides = layout.SIDES if kind is MapSpec else ()
    normal = spec.to_dict()
    if repr(known) == repr(normal):  # as in files of ours
        return spec
    for name in sorted(known.keys() | normal.keys()):
        value: Any = known.get(name)
        ours: Any = normal.get(name, {} if sides else None)
        if name in sides and isinstance(value, dict):
            value = _known(value, ours)
        checked(f"spec.{name}", value, partial(layout.same, ours))
    return spec


def _known(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _files(manifest: Mapping[str, Any]) -> Iterator[tuple[str, FileFacts]]:
    for key, value in manifest.items():
        if not PATH.fullmatch(key) or len(key) > LONGEST_PATH:
            raise StoreError(f"manifest has {quoted(key)}, which is no path of a version")
        entry: layout.Attributes = value if isinstance(value, dict) else {}
        sha256, nbytes = map(entry.get, FILE)
        if not (rules.SHA256(sha256) and rules.COUNT(nbytes)):
            read(f"manifest entry {key}", value, FILE)  # which says what is wrong
        yield key, FileFacts(entry["sha256"], entry["nbytes"])


def check_schema(attributes: layout.Attributes, where: str) -> None:
    """Check that this version reads a schema: later minor ones hold what would be misread.

    Raises:
        SchemaError: they have a later minor number, another major one, or none.
    """
    schema = attributes.get("schema")
    by = quoted(attributes.get("generator"))
    if schema not in layout.SCHEMAS:
        first = layout.SCHEMAS[0]
        last = layout.SCHEMAS[-1]
        raise SchemaError(
            f"{where} has schema {quoted(schema)}; this version reads {first} to {last}. Install "
            f"the version of cheblienet that wrote it: {by}."
        )


@dataclass(frozen=True)
class OperatorFacts:
    """The facts of a directional Laplacian, with the same names and meanings as a level's."""

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
    has a mask. `bandwidth` is None where there is no kernel; `dropped_edges` counts edges with a
    matched weight of 0; `eigenvalue_scale` times eigenvalues of Delta estimates the operator's,
    None where that could not be measured, or the version is older than this fact; `directional` is
    None where there are no directional Laplacians, `gradients` where there are none.
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


def _has_directions(value: Any) -> bool:
    return rules.is_object(value) and sorted(value) == sorted(DIRECTIONS)


def graph_facts(attributes: layout.Attributes) -> VersionFacts:
    """The facts in the attributes of a graph's version.

    Raises:
        StoreError: one is of another form than ours, or contradicts another.
    """
    common = shared(attributes, GraphSpec)
    spec = common["spec"]
    levels = attributes.get("levels")
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
        "in_plane_fraction": Range(0, 1) if spec.orientations > 1 else 1.0,
        **_metric_rules(spec, number, facts.get("xi")),
        "bandwidth": None if spec.kernel is None else rules.SIZE,
        "lambda_max": 2.0 if spec.lambda_max == 2 else Range(rules.ABOVE_0, most),
    }
    if lacking := sorted(expected.keys() - facts.keys()):
        raise StoreError(f"{name} lacks {lacking[0]}")
    if facts.get("eigenvalue_scale") is not None:  # not recorded by older versions
        plain = spec.weighting.moment is not None and spec.laplacian == "combinatorial"
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
        of_level["gradients"] = _gradients(f"{name}.gradients", field_spacings(spec, number), known)
    return LevelFacts(**of_level)


def _operator_rules(facts: Mapping[str, Any], vertices: int) -> dict[str, Any]:
    edges = rules.is_integer(1, vertices * (vertices - 1) // 2)
    value = facts.get("edges")
    return {
        "edges": edges,
        "nnz": 2 * value + vertices if value is not None and edges(value) else None,
        "lambda_max": rules.SIZE,
        "lambda_max_method": rules.is_text("lanczos|bound"),
    }


def _metric_rules(spec: GraphSpec, number: int, xi: Any) -> dict[str, Any]:
    """Xi follows from the spec unless it was solved for; its square follows from it."""
    if spec.xi == "auto":
        solved = Range(1 / rules.LARGEST, rules.LARGEST)
        return {"xi": solved, "xi_squared": float(xi * xi) if is_within(xi, solved) else None}
    known = spec.metric(number).xi if spec.geometry.oriented else None
    return {"xi": known, "xi_squared": None if known is None else known * known}


def _operator(name: str, facts: Any, vertices: int) -> OperatorFacts:
    expected = _operator_rules(checked(name, facts, rules.is_object), vertices)
    return OperatorFacts(**read(name, facts, expected))


def _gradients(name: str, spacings: Floats, facts: Any) -> GradientFacts:
    norm = Range(0, rules.LARGEST)  # 0 where all vanish: two pixels around a torus
    expected = {
        "nnz": rules.COUNT,
        "symmetric_nnz": rules.COUNT,
        "norms": [norm] * len(spacings),
        "spacings": spacings.tolist(),
        "largest": norm,
    }
    return GradientFacts(**read(name, facts, expected))
