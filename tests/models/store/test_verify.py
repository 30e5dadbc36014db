"""Versions against their manifests, and facts and arrays that contradict one another."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusing import refused
from sealing import digest, writable
from stores import store_of

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store.folder import Folder
from cheblienet_models import StoreError
from cheblienet_models.store.csr import CsrArrays
from cheblienet_models.store.files import own_attributes
from cheblienet_models.store.levels import Level
from cheblienet_models.store.verify import verify_facts, verify_files, verify_laplacian, verify_spec
from cheblienet_models.store.version import read_version


@pytest.fixture
def version(tmp_path: Path) -> Path:
    """Of three levels, with a file of more than one dimension."""
    build(GraphSpec("r2", (8, 12), levels=3), tmp_path / "g.zarr", name="g")
    return writable(tmp_path / "g.zarr/g/v001")


def check(version: Path) -> None:
    with Folder(version.parents[1]).kept_open() as root:
        folder = root / "g" / "v001"
        verify_files(folder, own_attributes(folder))


def rewritten(change: Callable[[dict], object]) -> Callable[[Path], None]:
    """Our attributes changed, and nothing computed anew."""

    def mutate(version: Path) -> None:
        document = json.loads((version / "zarr.json").read_bytes())
        change(document)
        (version / "zarr.json").write_text(json.dumps(document, indent=2))

    return mutate


def to_bytes(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


CHUNK, DOCUMENT = "levels/1/coordinates/c/0/0", "levels/1/coordinates/zarr.json"
CHANGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda v: to_bytes(v / "zarr.json", lambda b: b + b"\n"), "zarr.json holds more or other"),
    (rewritten(lambda d: d["attributes"].update(note=1)), "holds more or other text"),
    (rewritten(lambda d: d["attributes"]["clg"].update(note=1)), "attributes that differ from"),
    (rewritten(lambda d: d["attributes"]["clg"].pop("attributes_sha256")), "attributes that diff"),
    (lambda v: (v / CHUNK).unlink(), f"v001/{CHUNK} is missing"),
    (lambda v: to_bytes(v / CHUNK, lambda _: b""), f"v001/{CHUNK} is not what was published"),
    (lambda v: to_bytes(v / CHUNK, lambda b: b[::-1]), f"{CHUNK} is not what was"),
    (lambda v: to_bytes(v / DOCUMENT, lambda b: b + b" "), "is not what was"),
    (lambda v: (v / "levels/1/zarr.json").unlink(), "v001/levels/1/zarr.json is missing"),
    (lambda v: (v / "notes").write_text(""), "v001/notes is not in the manifest"),
    (lambda v: (v / "levels/notes").mkdir(), "v001/levels/notes is not in the manifest"),
    (lambda v: (v / "levels/1/c").symlink_to("degree"), "v001/levels/1/c is not in the manifest"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_changed_versions(version: Path, change: Callable[[Path], object], message: str) -> None:
    check(version)
    change(version)
    refused(message, check, version, error=StoreError)


SPECS = {
    "normalized": GraphSpec("se2", 8, orientations=4, levels=1, directional=0.05),
    "combinatorial": GraphSpec("se2", (8, 6), orientations=2, levels=1, laplacian="combinatorial"),
}
NAMES = pytest.mark.parametrize("name", SPECS)


graphs = store_of(SPECS, "session")


class Stored:
    """What a version holds, in memory, to be changed."""

    def __init__(self, graphs: Path, name: str) -> None:
        document = json.loads((graphs / name / "v001" / "zarr.json").read_text())
        self.attributes = document["attributes"]["clg"]
        self.spec, (self.facts,) = self.attributes["spec"], self.attributes["levels"]
        with Folder(graphs).kept_open() as root:
            self.folder = root / name / "v001"
            (self.level,) = read_version(self.folder, name).levels

    def check(self) -> None:
        verify_spec(self.folder, self.attributes)
        verify_laplacian(self.level)
        verify_facts(self.spec, self.facts, self.level)

    def refused(self, message: str) -> None:
        refused(message, self.check, error=StoreError)


@NAMES
def test_facts_that_the_arrays_contradict(graphs: Path, name: str) -> None:
    counts, measures = (lambda n: n + 2, float, str), (lambda x: x * (1 + 1e-8), lambda _: 10**400)
    kinds = dict.fromkeys(("isolated", "vertices", "nnz", "edges"), counts)
    kinds |= dict.fromkeys(("in_plane_fraction", "xi_squared"), measures)
    for fact, changes in kinds.items():
        for change in (*changes, lambda _: None):
            stored = Stored(graphs, name)
            stored.facts[fact] = change(stored.facts[fact])
            stored.refused(f"must have {fact} .*, as its arrays say")
    stored = Stored(graphs, name)
    for fact in ("in_plane_fraction", "xi_squared"):
        stored.facts[fact] *= 1 + 1e-10
    stored.check()
    for other in ("1", [1], 1e300, float("nan")):
        stored.facts["xi"] = other
        stored.refused(r"must have xi in .*\. Got ")
    stored.facts["xi"] = stored.facts["xi_squared"] = None
    stored.check()


def test_vertices_alone_and_in_pairs(tmp_path: Path) -> None:
    """Only those without any neighbor are isolated."""
    mask = np.zeros((16, 16), bool)
    mask[:5, :5] = mask[12, 2] = mask[12, 10:12] = True
    build(GraphSpec("r2", 16, levels=1, mask=mask), tmp_path / "g.zarr", name="pieces")
    stored = Stored(tmp_path / "g.zarr", "pieces")
    stored.check()
    assert stored.facts["isolated"] == 1


@NAMES
def test_the_specification(graphs: Path, name: str) -> None:
    number = Stored(graphs, name).level.orientations
    wrong = f"must have orientations {number}, as its arrays say", "has 1 levels; its spec says "
    for message, field, others in (
        (wrong[0], "orientations", (3, float(number), None)),
        (wrong[1], "levels", (2, 1.0, True, None)),
    ):
        for other in others:
            stored = Stored(graphs, name)
            stored.spec[field] = other
            stored.refused("has a spec_sha256 that is not the digest of its spec")
            stored.attributes["spec_sha256"] = digest(stored.spec)
            stored.refused(message)


def put(array: str, place: int, value: float) -> Callable[[Level], Level]:
    def change(level: Level) -> Level:
        changed = getattr(level, array).clone()
        changed.view(-1)[place] = value
        return replace(level, **{array: changed})

    return change


def entry(matrix: CsrArrays, row: int, column: int) -> int:
    """Where an entry is stored."""
    start, stop = matrix.indptr[row : row + 2]
    return int(start + np.flatnonzero(matrix.indices[start:stop] == column)[0])


def with_data(matrix: CsrArrays, change: Callable[[np.ndarray], object]) -> CsrArrays:
    data = matrix.data.copy()
    change(data)
    return replace(matrix, data=data)


def edge(matrix: CsrArrays) -> tuple[int, int]:
    """Where the first edge of vertex 0 is stored, and the same edge from its other end."""
    columns = matrix.indices[: matrix.indptr[1]]
    column = int(columns[columns > 0][0])
    return entry(matrix, 0, column), entry(matrix, column, 0)


def lighter(matrix: CsrArrays) -> CsrArrays:
    """Symmetric, but with another kernel."""
    places = list(edge(matrix))
    return with_data(matrix, lambda data: data.__setitem__(places, 0.99 * data[places]))


def lopsided(matrix: CsrArrays) -> CsrArrays:
    return with_data(matrix, lambda data: data.__setitem__(edge(matrix)[0], -1e-3))


def stretched(matrix: CsrArrays) -> CsrArrays:
    return with_data(matrix, lambda data: data.__imul__(1.1))


def without_diagonal(matrix: CsrArrays) -> CsrArrays:
    """Without the entry of vertex 0 on the diagonal."""
    place = entry(matrix, 0, 0)
    indptr = matrix.indptr.copy()
    indptr[1:] -= 1
    data, indices = (np.delete(part, place) for part in (matrix.data, matrix.indices))
    return replace(matrix, indptr=indptr, indices=indices, data=data)


def in_laplacian(change: Callable[[CsrArrays], CsrArrays]) -> Callable[[Level], Level]:
    return lambda level: replace(level, laplacian=change(level.laplacian))


@NAMES
@pytest.mark.parametrize(
    ("change", "message"),
    [
        *((put("degree", 5, value), "must have finite coordinates") for value in (-1, np.nan)),
        *((put("area", 0, value), "must have finite coordinates") for value in (0, np.inf)),
        (put("area", 0, 1.1), "positive areas with mean 1"),
        (put("coordinates", 3, np.nan), "must have finite coordinates"),
        (put("degree", 5, 3), "another diagonal|does not vanish"),
        (lambda level: replace(level, lambda_max=level.lambda_max * 1.001), "another diagonal"),
        (in_laplacian(lopsided), "is not finite and symmetric"),
        (in_laplacian(stretched), "has eigenvalues outside"),
        (in_laplacian(lighter), "does not vanish on the square roots"),
    ],
)
def test_arrays_that_contradict_one_another(
    graphs: Path, name: str, change: Callable[[Level], Level], message: str
) -> None:
    stored = Stored(graphs, name)
    stored.check()
    stored.level = change(stored.level)
    stored.refused(message)


@NAMES
def test_laplacians_without_a_diagonal(graphs: Path, name: str) -> None:
    stored = Stored(graphs, name)
    edges = stored.level.num_edges
    stored.level = replace(stored.level, laplacian=without_diagonal(stored.level.laplacian))
    fewer = stored.level.num_edges
    stored.facts.update(nnz=len(stored.level.laplacian.data), edges=fewer)
    stored.facts["in_plane_fraction"] *= edges / fewer
    given = stored.spec, stored.facts, stored.level
    refused("another diagonal", verify_facts, *given, error=StoreError)


@pytest.mark.parametrize("direction", ["forward", "sideways", "rotation"])
def test_directional_laplacians(graphs: Path, direction: str) -> None:
    stored = Stored(graphs, "normalized")
    matrices, facts = stored.level.directional, stored.facts["directional"]
    true, expected = matrices[direction][0], facts[direction]
    across = "forward" if direction == "rotation" else "rotation"
    lacking, named = without_diagonal(true), f"The {direction} Laplacian of normalized.* "
    counts = {"nnz": len(lacking.data), "edges": (len(lacking.data) - lacking.shape[0]) // 2}
    vanish = f"{named}must store its diagonal, have edges along"
    cases: list[tuple[CsrArrays, dict[str, Any], str]] = [
        (true, {fact: other}, rf"must have {direction} {fact} {expected[fact]}, as its")
        for fact in ("nnz", "edges")
        for other in (expected[fact] + 1, float(expected[fact]), None)
    ]
    cases += [
        (lopsided(true), {}, f"{named}is not finite and symmetric"),
        (stretched(true), {}, "eigenvalues outside"),
        (lighter(true), {}, vanish),
        (lacking, counts, vanish if direction == "rotation" else f"{vanish}|eigenvalues outside"),
        (matrices[across][0], facts[across], vanish),
    ]
    for matrix, others, message in cases:
        stored = Stored(graphs, "normalized")
        stored.facts["directional"][direction] |= others
        changed = {**stored.level.directional, direction: (matrix, 1.0)}
        stored.level = replace(stored.level, directional=changed)
        stored.refused(message)
