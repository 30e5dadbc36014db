"""What all published versions record of themselves, read by rules, whatever they hold."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

from cheblienet_graphs.errors import SchemaError, SpecError, StoreError, quoted
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.store import layout, rules
from cheblienet_graphs.store.rules import Rule, WrongFactError, checked, read

PATH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}")
LONGEST_PATH = 255
LATER = re.compile(r"1\.[1-9][0-9]{0,8}")
"""A schema that a later version of the same major number reads, if it is none of ours."""

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
    """

    spec_sha256: str
    generator: Mapping[str, str]
    created: str
    files: Mapping[str, FileFacts]
    sha256: str

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
    }


def _spec(kind: type[Spec], raw: Mapping[str, Any]) -> Spec:
    """The spec, if it is in the form of its `to_dict`; unknown fields are left out."""
    known = _known(raw, [field.name for field in fields(kind)])
    try:
        spec = kind.from_dict(known)
    except (SpecError, TypeError) as error:
        raise WrongFactError(f"spec is none: {error}") from error
    sides = layout.SIDES if kind is MapSpec else ()
    normal = spec.to_dict()
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
            raise WrongFactError(f"manifest has {quoted(key)}, which is no path of a version")
        yield key, FileFacts(**read(f"manifest entry {key}", value, FILE))


@contextmanager
def refusing(attributes: layout.Attributes, where: str) -> Iterator[None]:
    """Say which version a wrong fact is of.

    Args:
        attributes: of the version, from which facts are read.
        where: its name in messages.

    Raises:
        StoreError: a fact is wrong.
        SchemaError: this version of the package does not read the schema.
    """
    check_schema(attributes, where)
    try:
        yield
    except WrongFactError as error:
        raise StoreError(
            f"{where} was changed or not written by cheblienet: its {error}. Import or build it "
            "again."
        ) from error


def check_schema(attributes: layout.Attributes, where: str) -> None:
    """Check that this version reads a schema: later minor ones hold what would be misread.

    Raises:
        SchemaError: they have a later minor number, another major one, or none.
    """
    schema, by = attributes.get("schema"), quoted(attributes.get("generator"))
    if schema in layout.SCHEMAS:
        return
    if isinstance(schema, str) and LATER.fullmatch(schema):
        reads = f"{schema}; this version reads {layout.SCHEMAS[0]} to {layout.SCHEMAS[-1]}"
        remedy = f"a newer cheblienet; it was written by {by}"
    else:
        reads = f"{quoted(schema)}; this version reads 1.x"
        remedy = f"the version of cheblienet that wrote it: {by}"
    raise SchemaError(f"{where} has schema {reads}. Install {remedy}.")
