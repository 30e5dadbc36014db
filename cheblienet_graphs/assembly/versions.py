"""Published versions, what was there before, and the software that their bytes depend on."""

import datetime as dt
import platform
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version as version_of
from inspect import currentframe
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import cheblienet_graphs
from cheblienet_graphs.assembly.checks import LevelCheck
from cheblienet_graphs.errors import CheblienetError, OtherGraphWarning, StoreError, UnreadableError
from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.spec.map_spec import MapSpec
from cheblienet_graphs.spec.words import shown
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.facts import LevelFacts, PublishedFacts
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import MapSizes, read_either, read_facts
from cheblienet_graphs.store.publishing import InStore
from cheblienet_graphs.store.staged import identity_of

if TYPE_CHECKING:
    from cheblienet_models import Pyramid, VertexMap

Facts = TypeVar("Facts", bound=PublishedFacts)

Result = TypeVar("Result", bound="InStore")

GENERATOR = {"name": "cheblienet", "version": cheblienet_graphs.__version__}


@dataclass(frozen=True)
class Published(InStore):
    """A version of a graph in a store.

    Args:
        store, name, version: where it is.
        built: False where it was there already.
        levels: what was recorded of each level, finest first.
        resumed: whether an interrupted build was continued.
        checks: what to know of each level, finest first; empty where nothing was built.
        processes: number of processes of this machine that did the work, without a cluster
            elsewhere; 0 where nothing was built.
        threads: that each of them searched with.
    """

    levels: tuple[LevelFacts, ...]
    resumed: bool = False
    checks: tuple[LevelCheck, ...] = ()
    processes: int = 0
    threads: int = 0

    def open(self) -> "Pyramid":
        """Open the version as a pyramid of `cheblienet_models`, its arrays mapped from the store.

        Raises:
            StoreError: it was removed, or is not valid any more.
        """
        from cheblienet_models import open_store  # the one import between the packages

        return open_store(self.store)[f"{self.name}@{self.version}"]


@dataclass(frozen=True)
class PublishedMap(InStore):
    """A version of a map in a store.

    Args:
        store, name, version: where it is.
        built: False where it was there already.
        sizes: what was recorded of it.
    """

    sizes: MapSizes

    def open(self) -> "VertexMap":
        """Open the version as a `cheblienet_models.VertexMap`, its arrays mapped from the store.

        Raises:
            StoreError: it was removed, or is not valid any more.
        """
        from cheblienet_models import open_store  # as above

        return open_store(self.store).maps[f"{self.name}@{self.version}"]


def published(spec: GraphSpec, store: Path, name: str) -> Published | None:
    """The newest version of a graph with this spec and this version of the package, if any.

    Raises:
        StoreError: the store can't be read.
    """
    if (version := newest_equal(spec, store, name)) is None:
        return None
    facts = read_facts(Folder(store) / name / version)
    return Published(store, name, version, built=False, levels=facts.levels)


def newest_equal(spec: GraphSpec | MapSpec, store: Path, name: str) -> str | None:
    """The newest version of a name with this spec and this version of the package, if any.

    Raises:
        StoreError: the store can't be read.
    """
    place = Folder(store)
    if not catalog.check_store(place) or not catalog.is_graph(place, name):
        return None
    equal = of_spec(spec, place / name, read_either)
    return next((version for version, facts in equal if facts.generator == GENERATOR), None)


def same_digest(spec: GraphSpec, store: Path, first: str) -> Published | None:
    """The newest version with this spec of any graph, whichever version of the package built it.

    Args:
        spec: looked for.
        store: where; a store that does not exist has none.
        first: the graph to look at before the others.

    Raises:
        StoreError: the store can't be read.
    """
    place = Folder(store)
    names = catalog.graph_names(place) if catalog.check_store(place) else []
    for name in sorted(names, key=lambda name: name != first):
        with suppress(UnreadableError):  # of somebody else
            for version, facts in of_spec(spec, place / name, read_facts):
                return Published(store, name, version, built=False, levels=facts.levels)
    return None


def of_spec(
    spec: GraphSpec | MapSpec, graph: Folder, read: Callable[[Folder], Facts]
) -> Iterator[tuple[str, Facts]]:
    """Versions of a graph, or of a map, with this spec, the newest first."""
    for version, facts in catalog.readable(graph, read):
        if facts.spec_sha256 == spec.sha256:
            yield version, facts


def recorded(spec: GraphSpec | MapSpec) -> layout.Attributes:
    """The attributes of a version that do not depend on what it holds."""
    return {
        "schema": spec.schema,
        "spec": spec.to_dict(),
        "spec_sha256": spec.sha256,
        "generator": GENERATOR,
        "created": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }


def compared_by_name(result: Result, spec: GraphSpec | MapSpec) -> Result:
    """The result, with a warning where its name stands, or stood, for another specification.

    Args:
        result: of a build; where it built nothing, the newest version is another one.
        spec: of that version.
    """
    graph, number = Folder(result.store) / result.name, layout.version_number(result.version)
    others = (
        version
        for version in reversed(catalog.versions(graph))
        if version != result.version and (layout.version_number(version) < number) == result.built
    )
    for other, facts in catalog.readable(graph, read_either, others):
        then, now = _fields(facts.spec), _fields(spec)
        differ = [
            f"{field} {shown(then.get(field))} -> {shown(now.get(field))}"
            for field in now | then
            if then.get(field) != now.get(field)
        ]
        if not differ:
            break
        name, newest = result.name, result.version if result.built else other
        difference = (
            f"{name}@{result.version} differs from {name}@{other}: {', '.join(differ)}. "
            f"{name} stands for {name}@{newest}."
        )
        warnings.warn(
            f"{difference} Open {name}@{result.version}, or use another `name`.",
            OtherGraphWarning,
            stacklevel=_callers_level(),
        )
        return replace(result, difference=difference)
    return result


def _fields(spec: GraphSpec | MapSpec) -> dict[str, Any]:
    """The fields of a specification; of a map as "source.eps" and so on."""
    fields = spec.to_dict()
    if isinstance(spec, MapSpec):
        sides = {side: fields.pop(side) for side in layout.SIDES}
        fields = {f"{side}.{k}": v for side, of in sides.items() for k, v in of.items()} | fields
    return fields


def _callers_level() -> int:
    """The index of the first stack frame outside this package, as the caller counts."""
    frame = currentframe()
    level = 0
    while frame and frame.f_globals["__name__"].partition(".")[0] == "cheblienet_graphs":
        frame = frame.f_back
        level = level + 1
    return level


@lru_cache
def software(engine: str) -> dict[str, str]:
    """Versions that the bytes of a build depend on, besides its specification.

    Args:
        engine: that finds neighbors; "stencil" does without torch.
    """
    names = ["numpy", "scipy", *(["torch"] if engine != "stencil" else [])]
    libraries = {name: version_of(name) for name in names}
    return {"cheblienet": cheblienet_graphs.__version__, **libraries, "machine": platform.machine()}


def check_worker(engine: str, folder: Path) -> None:
    """See that this process has the libraries and the files of the building process.

    Args:
        engine: that finds neighbors.
        folder: in which the build is staged.

    Raises:
        CheblienetError: it has other versions.
        StoreError: the staged level is not there.
    """
    identity = identity_of(folder)
    if identity is None:
        raise StoreError(
            f"{folder} is not there for one of the workers. All of them, and the one who "
            "builds, must see the store's file system under the same path."
        )
    known = identity["software"].items()
    mine = software(engine).items()
    others = [" ".join(library) for library in mine if library not in known]
    if others:
        raise CheblienetError(
            f"A worker has {', '.join(others)}; the building process has another version, and "
            "bytes would depend on which worker wrote them. Install the same."
        )
