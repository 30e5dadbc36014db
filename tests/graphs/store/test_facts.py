"""What a version says of itself: refused in one line where it can't be, whatever digests say."""

import json
import math
import operator
import re
import zipfile
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from damage import writable_copy
from refusing import refused
from sealing import reseal
from stores import store_of

from cheblienet_graphs import GraphSpec, StoreError, build, eigenpairs, inspect, verify
from cheblienet_graphs.archives.npz import to_npz
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.assembly.versions import published
from cheblienet_graphs.samplings.points import Random
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import listing, read_facts
from cheblienet_models import open_store

SPEC = GraphSpec("se2", 8, orientations=4, levels=2, eigenpairs=3, gradients=True)


built = store_of({"g": SPEC})


@pytest.fixture
def version(built: Path, tmp_path: Path) -> Path:
    """Of a copy, to be changed."""
    return writable_copy(built, tmp_path / "g.zarr") / "g/v001"


def raw_zip(version: Path, file: Path) -> Path:
    """The version as it is, whatever `export_zip` would say."""
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(path for path in version.rglob("*") if path.is_file()):
            archive.write(path, f"g/{path.relative_to(version)}")
    return file


def commands(version: Path) -> list[Callable[[], object]]:
    """Whatever reads the facts of a version; all but the last read arrays, too."""
    store, beside = version.parents[1], version.parents[2]
    return [
        lambda: inspect(store, "g", eigenvalues=3),
        lambda: to_npz(Folder(version), beside / "x-npz"),
        lambda: export_zip(Folder(version), beside / "x.zip"),
        lambda: import_zip(raw_zip(version, beside / "raw.zip"), beside / "other.zarr"),
        lambda: open_store(store)["g"],
        lambda: eigenpairs(store, "g"),
    ]


def all_refuse(*commands: Callable[[], object]) -> None:
    """In one line, and without a warning: these are errors in all tests."""
    for command in commands:
        refused(".", command, error=StoreError, most=1_000)


def refused_everywhere(version: Path) -> None:
    """Every command refuses the version; `clg ls` goes on."""
    all_refuse(*commands(version))
    (fault,) = verify(version.parents[1])
    assert fault.where == "g/v001/zarr.json"
    (listed,) = listing(version.parents[1])
    assert listed.fault is not None
    assert published(SPEC, version.parents[1], "g") is None


def test_a_version_that_would_be_sampled_disables_nothing(
    version: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its region has no mask: as many points as it says would be made, to see which are inside."""
    store = version.parents[1]
    build(GraphSpec("s2", subdivisions=1, region=(0, -60, 90, 60)), store, name="damaged")
    huge = {"sampling": "random", "points": 3_000_000, "seed": 0, "levels": 1}

    def change(clg: dict[str, Any]) -> None:
        del clg["spec"]["mask"], clg["spec"]["subdivisions"]
        clg["spec"] |= huge

    reseal(store / "damaged/v001", change)
    monkeypatch.setattr(Random, "coordinates", property(lambda _: pytest.fail("sampled")))
    fault = "damaged/v001 was changed .* its spec is none: mask must be given with a region"
    with pytest.raises(StoreError, match=fault):
        inspect(store, "damaged")
    with pytest.raises(StoreError, match="its spec is none: mask must be"):
        import_zip(raw_zip(store / "damaged/v001", store.with_name("d.zip")), store, "other")
    faults = {row.name: row.fault for row in listing(store)}
    assert re.search(fault, str(faults["damaged"]))
    assert faults["g"] is None
    assert verify(store, "g") == []
    assert inspect(store, "g", eigenvalues=3).name == "g"
    assert build(GraphSpec("r2", 8), store, name="damaged").version == "v002"
    assert open_store(store)["damaged"].version == "v002"


def at(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Put a value at "levels/0/edges"."""

    def change(clg: dict[str, Any]) -> None:
        *parents, last = path.split("/")
        place: Any = clg
        for key in parents:
            place = place[int(key)] if isinstance(place, list) else place[key]
        place[last] = value

    return change


NESTED: Any = reduce(lambda inner, _: [inner], range(200), [])
COUNTS = ("vertices", "edges", "isolated", "dropped_edges")
NUMBERS = ("in_plane_fraction", "xi", "xi_squared", "bandwidth", "lambda_max", "eigenvalue_scale")
SCALES = ("lambda_max", "eigenvalue_scale")
IMPOSSIBLE = ["128", [128], None, True, 1.5, -1, 10**19, 10**4200, {"a": 1}]
FILE = {"sha256": "0" * 64, "nbytes": 0}
FACTS = [
    *(at("levels/0/nnz", value) for value in IMPOSSIBLE),
    *(at(f"levels/0/{fact}", value) for fact in COUNTS for value in ("128", -1, 10**4200)),
    *(at("levels/1/bandwidth", value) for value in ([0.5], True, 1e300, 0)),
    *(at(f"levels/1/{fact}", value) for fact in NUMBERS for value in ("0.5", -0.5, 10**400)),
    *(at(f"levels/0/{fact}", value) for fact in SCALES for value in (0, True, math.inf, math.nan)),
    *(at("levels/0/grid", value) for value in ([4, 8], [4, 8.0, 8], [1, 8, 32], "4x8x8", NESTED)),
    *(at("levels/0/grid", value) for value in ([4, True, 64], [4, 2**30, 2**30, 2**30], 256)),
    *(at("levels", value) for value in ([], None, "two", [1, 2], {"0": {}}, NESTED)),
    at("levels", [{"lambda_max": 1.4}] * 40),
    *(at("levels/0/lambda_max_method", value) for value in ("", "guess", 3, None)),
    *(at("spec", value) for value in ({}, None, [], "se2", NESTED)),
    *(at("spec/laplacian", value) for value in ("other", "", None, 1, ["normalized"], {})),
    lambda clg: clg["spec"].pop("laplacian"),
    *(at("spec/eigenpairs", count) for count in (65, 2**70)),
    at("spec/gradients", 1),
    *(at("spec/levels", value) for value in (1, 2.0, "2", 10**400, None, [2])),
    *(at("spec/size", value) for value in ([8, 8.0], ["8", "8"], [10**19, 10**19])),
    *(at("spec/manifold", value) for value in ("x" * 40_000, "\x1b[2J\n" * 99)),
    *(at("spec/manifold", value) for value in ("r3s2", ["se2"], "r2")),
    *(at("manifest", value) for value in (None, [], {"x": 1})),
    *(at("manifest", {path: FILE}) for path in ("../../etc", "a" * 300)),
    *(at("manifest", {"a": FILE | change}) for change in ({"sha256": "0"}, {"nbytes": -1})),
    lambda clg: clg["manifest"].update({"levels/0/degree": None}),
    *(at("created", value) for value in ("yesterday", 3, None, "2026-01-01", "\n" * 99)),
    *(at("generator", value) for value in (None, {}, {"name": "a\nb", "version": "1"}, "me")),
    *(at("schema", value) for value in ("2.0", "1.7", "1.10", "0.9", "1.01", 1, "1", "1.x", None)),
    at("schema", "1." + "0" * 999),
    *(operator.methodcaller("pop", key) for key in ("spec", "levels", "spec_sha256", "schema")),
    *(lambda clg, fact=fact: clg["levels"][0].pop(fact) for fact in ("xi", "gradients")),
    at("levels/0/gradients", None),
    *(at("levels/0/gradients/norms", value) for value in ([1.0, 2.0], 3.0, None, [1, 1])),
    *(at("levels/0/gradients/norms", value) for value in ([1, 1, -1], [1, 1, "1"])),
    *(at("levels/0/gradients/nnz", value) for value in (None, True, 3.0, "3", -1)),
    *(at("levels/0/gradients/largest", value) for value in (None, -1, "1")),
    *(at(f"levels/0/gradients/{fact}", 1e300) for fact in ("spacings", "largest")),
    *(at("levels/0/gradients/spacings", [value, 1.0, 1.0]) for value in (0.0, 1.0)),
    *(at("spec_sha256", value) for value in ("0" * 64, "ab" * 32, 3)),
    # They contradict the specification, or each other.
    *(at(f"levels/0/{name}", value) for name, value in (("vertices", 257), ("nnz", 1000))),
    *(at(f"levels/0/{name}", value) for name, value in (("edges", 300), ("xi_squared", 0.25))),
    *(at(f"levels/0/{name}", value) for name, value in (("grid", [4, 8, 4]), ("edges", 10**6))),
    at("spec/orientations", 6),
    lambda clg: clg["levels"].pop(),
]


def test_facts_of_another_form_are_refused_where_a_graph_is_opened(version: Path) -> None:
    original = (version / "zarr.json").read_bytes()
    for change in FACTS:
        reseal(version, change)
        all_refuse(lambda: open_store(version.parents[1])["g"])
        (version / "zarr.json").write_bytes(original)
    assert open_store(version.parents[1])["g"].levels


@pytest.mark.slow
def test_facts_of_another_form_are_refused_by_every_command(version: Path) -> None:
    original = (version / "zarr.json").read_bytes()
    for number, change in enumerate(FACTS):
        reseal(version, change)
        try:
            refused_everywhere(version)
        except BaseException as error:
            error.add_note(f"change {number}: {(version / 'zarr.json').read_text()[:2000]}")
            raise
        (version / "zarr.json").write_bytes(original)
    assert verify(version.parents[1]) == []
    assert not (version.parents[2] / "other.zarr").exists()


@pytest.mark.parametrize(
    "text",
    [b"[" * 100_000, b"NaN", b"1e999", b'{"a": -Infinity}', b"\xff", b" " * 5_000_000, b"9" * 5000],
)
def test_documents_that_are_no_json_are_refused(version: Path, text: bytes) -> None:
    document = json.loads((version / "zarr.json").read_bytes())
    document["attributes"]["clg"]["levels"] = "HERE"
    contents = json.dumps(document).encode().replace(b'"HERE"', text)
    (version / "zarr.json").chmod(0o644)
    (version / "zarr.json").write_bytes(contents)
    refused_everywhere(version)


MISCOUNTED = [
    lambda clg: clg["levels"][0].update(edges=300, nnz=856),
    *(at("levels/0/gradients/nnz", value) for value in (0, 1, 3)),
    *(at("spec/eigenpairs", count) for count in (2, 4)),
]
"""Shapes of arrays, which whatever reads these compares."""
SELDOM_READ = [at("levels/0/gradients/symmetric_nnz", value) for value in (0, 1)]
"""That of an array which reports and exports to npz leave out."""
CONTRADICTIONS = [
    *MISCOUNTED,
    *SELDOM_READ,
    at("levels/0/isolated", 1),
    at("levels/0/in_plane_fraction", 0.5),
    lambda clg: clg["levels"][0].pop("gradients"),
    *(at("levels/0/gradients/norms", norms) for norms in ([9e9] * 3, [1.0, 100.0, 2.0])),
    at("levels/0/gradients/norms", [100.0, 100.0, 0.9]),
    at("levels/0/gradients/largest", 1e3),
    at("levels/1/lambda_max", 1.7),
    lambda clg: clg["levels"][1].update(lambda_max=clg["levels"][1]["lambda_max"] * (1 + 1e-5)),
    at("spec/laplacian", "combinatorial"),
]


@pytest.mark.parametrize("change", CONTRADICTIONS)
def test_facts_that_contradict_the_arrays_are_noticed(version: Path, change: Callable) -> None:
    reseal(version, change)
    store, beside = version.parents[1:3]
    assert verify(store) != []
    all_refuse(
        lambda: open_store(store, verify=True)["g"],
        lambda: import_zip(raw_zip(version, beside / "x.zip"), beside / "o.zarr"),
    )
    if change in MISCOUNTED:
        all_refuse(*commands(version)[:-1])
    if change in SELDOM_READ:
        all_refuse(*commands(version)[2:-1])


def test_solved_xi_contradicts_its_square_alone(tmp_path: Path) -> None:
    """An xi that was solved for is no function of the spec."""
    spec = GraphSpec("se2", 6, orientations=2, levels=1, xi="auto")
    build(spec, tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr/g/v001"
    (level,) = read_facts(Folder(version)).levels
    assert level.xi_squared == pytest.approx(level.xi**2)
    reseal(version, at("levels/0/xi", 0.1))
    with pytest.raises(StoreError, match="xi_squared can't be"):
        read_facts(Folder(version))


@pytest.mark.parametrize(
    "fields", [{"weights": "voronoi"}, {"weights": "kernel", "laplacian": "combinatorial"}]
)
def test_only_consistent_weights_fix_the_scale_of_eigenvalues(tmp_path: Path, fields: Any) -> None:
    build(GraphSpec("s2", subdivisions=1, **fields), tmp_path / "g.zarr", name="g")
    version = tmp_path / "g.zarr/g/v001"
    reseal(version, at("levels/0/eigenvalue_scale", 1.5))
    if fields["weights"] == "voronoi":
        refused("eigenvalue_scale can't be 1.5", read_facts, Folder(version), error=StoreError)
    else:
        assert read_facts(Folder(version)).levels[0].eigenvalue_scale == 1.5


@pytest.mark.parametrize("schema", ["1.0", "1.3", "1.6"])
def test_further_facts_of_a_known_schema_are_read_over(version: Path, schema: str) -> None:
    expected = read_facts(Folder(version)).levels

    def later(clg: dict[str, Any]) -> None:
        clg["schema"], clg["license"] = schema, "MIT"
        clg["levels"][0]["diameter"] = clg["spec"]["color"] = clg["generator"]["host"] = 7
        clg["manifest"]["levels/0/degree"]["crc32"] = 7

    reseal(version, later)
    assert read_facts(Folder(version)).levels == expected
    assert verify(version.parents[1]) == []
    assert open_store(version.parents[1], verify=True)["g"].levels
    other = version.parents[2] / "other.zarr"
    assert import_zip(raw_zip(version, version.parents[2] / "x.zip"), other).built
