"""Stores that were written once, for each schema: what is released stays readable, by all means."""

import itertools
import json
import shutil
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
import scipy.sparse
import torch
from damage import edit, writable_copy
from failures import failing
from matplotlib.figure import Figure
from sealing import reseal

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, MapSpec, build, build_map
from cheblienet_graphs.assembly.versions import same_digest
from cheblienet_graphs.page.page import page
from cheblienet_graphs.plot import figure_named
from cheblienet_models import Graph, Pyramid, StoreError, open_store

SPECS = {
    (schema, name): spec
    for kind in (golden.SPECS, golden.MAPS)
    for schema, specs in kind.items()
    for name, spec in specs.items()
}
CSR = ("indptr", "indices", "data")
FACTS = ("generator", "spec_sha256")
ARRAYS = ("coordinates", "degree", "area", "base_index", "eigenvalues", "eigenvectors")


def kept(schema: str) -> dict[str, Any]:
    """What was found in the store of a schema when it was written, by name of the graph."""
    return json.loads((golden.KEPT / f"{schema}.json").read_text())


def copied(schema: str, folder: Path) -> Path:
    """A copy of the store of a schema, writable."""
    return writable_copy(golden.KEPT / schema, folder / f"{schema}.zarr")


@pytest.fixture(autouse=True)
def _out(here: Path) -> None:
    """Let there be a folder for results in the current one."""
    (here / "out").mkdir()


@pytest.fixture(params=golden.SPECS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return copied(request.param, tmp_path)


@pytest.fixture(params=golden.MAPS)
def maps(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One of maps, which are no graphs."""
    return copied(request.param, tmp_path)


def matrix(path: str, parts: Any) -> dict[str, np.ndarray]:
    return {f"{path}/{name}": np.asarray(part) for name, part in zip(CSR, parts, strict=True)}


def arrays(pyramid: Pyramid) -> dict[str, np.ndarray]:
    """Those of a version by their paths in the store, as training has them."""
    by_path: dict[str, np.ndarray] = {}
    for level, graph in enumerate(pyramid.levels):
        path = f"levels/{level}"
        by_path |= matrix(f"{path}/laplacian", graph.laplacian_parts())
        for direction, parts in graph.directional.items():
            by_path |= matrix(f"{path}/directional/{direction}", parts[:3])
        parts = graph.gradients.parts() if graph.gradients is not None else []
        for name, start in (("fields", 0), ("symmetric", 3)):
            if parts and len(parts[start + 2]):
                by_path |= matrix(f"{path}/gradients/{name}", parts[start : start + 3])
        if graph.fraction is not None:
            by_path[f"{path}/fraction"] = np.asarray(graph.fraction.flatten())
            by_path |= matrix(f"{path}/filling", filling(graph))
        stored = {name: getattr(graph, name) for name in ARRAYS}
        by_path |= {f"{path}/{k}": np.asarray(v) for k, v in stored.items() if v is not None}
    for fine in range(len(pyramid.levels) - 1):
        down, up = f"pooling/{fine}to{fine + 1}", f"unpooling/{fine + 1}to{fine}"
        for path, level_map in ((down, pyramid.pooling(fine)), (up, pyramid.unpooling(fine))):
            csr = level_map.matrix()
            by_path |= matrix(path, (csr.crow_indices(), csr.col_indices(), csr.values()))
    return by_path


def filling(graph: Graph) -> tuple[np.ndarray, ...]:
    """What each pixel shows of a signal, as `to_grid` has it."""
    points = torch.eye(graph.num_points)[None]
    shown = scipy.sparse.csr_array(graph.to_grid(points, 0).flatten(2)[0].T.numpy())
    return shown.indptr.astype(np.int32), shown.indices.astype(np.int32), shown.data


def output(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    """What a command that must succeed prints as JSON."""
    assert run(list(map(str, arguments))) == 0
    return json.loads(capsys.readouterr().out)


ON_SPHERES = "1.6"
"""The schema with which graphs on s2 are written now, whatever it was."""


def test_there_is_a_store_for_each_schema_that_is_read() -> None:
    specs_of = golden.SPECS | golden.MAPS
    assert {path.name for path in golden.KEPT.iterdir() if path.is_dir()} == set(specs_of)
    for schema, specs in specs_of.items():
        assert kept(schema).keys() == specs.keys()
        assert {of["schema"] for of in kept(schema).values()} == {schema}
        now = {schema, *[spec.schema for spec in specs.values() if spec.schema != ON_SPHERES]}
        assert now == {schema}


@pytest.mark.parametrize("verify", [False, True])
def test_training_opens_them(store: Path, verify: bool) -> None:
    opened, known = open_store(store, verify=verify), kept(store.stem)
    assert set(opened) == known.keys()
    for name, pyramid in opened.items():
        expected = known[name]
        assert pyramid.identity.spec_sha256 == expected["spec_sha256"]
        assert pyramid.identity.version == "v001"
        recorded = {key: golden.recorded(array) for key, array in arrays(pyramid).items()}
        assert recorded == expected["arrays"]
        for graph, facts in zip(pyramid.levels, expected["levels"], strict=True):
            assert [*graph.grid] == facts["grid"]
            assert (graph.num_vertices, graph.num_edges) == (facts["vertices"], facts["edges"])
            for name in ("lambda_max", "eigenvalue_scale"):
                assert getattr(graph, name) == facts[name]


@pytest.mark.parametrize("verify", [False, True])
def test_training_opens_maps(maps: Path, verify: bool) -> None:
    opened, known = open_store(maps, verify=verify), kept(maps.stem)
    assert (list(opened), set(opened.maps)) == ([], known.keys())
    for name, vertex_map in opened.maps.items():
        expected, facts = known[name], known[name]["map"]
        assert vertex_map.spec_sha256 == expected["spec_sha256"]
        by_path = {
            f"{side}/coordinates": np.asarray(getattr(vertex_map, f"{side}_coordinates"))
            for side in ("source", "target")
        }
        for side, of in (("map", vertex_map), ("transposed", vertex_map.T)):
            by_path |= matrix(side, (of.row_pointers, of.columns, of.values))
        recorded = {key: golden.recorded(array) for key, array in by_path.items()}
        assert recorded == {k: v for k, v in expected["arrays"].items() if "base_index" not in k}
        for grid in ("source_grid", "target_grid"):
            assert [*getattr(vertex_map, grid)] == facts[grid]


def test_commands_report_maps(maps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, expected in kept(maps.stem).items():
        report = output(capsys, "inspect", name, "--store", maps, "--json")
        assert report["spec_sha256"] == expected["spec_sha256"]
        facts = expected["map"]
        assert (report["entries"], report["farthest"]) == (facts["nnz"], facts["farthest"])
    check_verified(maps, capsys)


def check_verified(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checked = output(capsys, "verify", "--store", store, "--json", "--quiet")
    versions = sorted(f"{name}/v001" for name in kept(store.stem))
    assert checked == {"versions": versions, "faults": [], "remarks": [], "leftovers": 0}


def test_commands_report_them(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = kept(store.stem)
    for name, expected in known.items():
        report = output(capsys, "inspect", name, "--store", store, "--json", "--eigenvalues", "1")
        assert (report["name"], report["version"]) == (name, "v001")
        assert [report[key] for key in FACTS] == [expected[key] for key in FACTS]
        for level, facts in zip(report["levels"], expected["levels"], strict=True):
            assert {key: level[key] for key in facts} == facts
    check_verified(store, capsys)
    for of in output(capsys, "ls", "--store", store, "--json"):
        assert (of["refs"], of["fault"]) == (["latest"], None)
        assert of["vertices"] == [level["vertices"] for level in known[of["name"]]["levels"]]


DRAWING = [
    ["inspect", "NAME", "--html", "out/page.html"],
    ["plot", "spectrum", "NAME", "-o", "out/figure.png"],
]
READING = [
    *DRAWING,
    ["inspect", "NAME"],
    ["diff", "NAME", "NAME@v001"],
    ["neighbors", "NAME", "--vertex", "0"],
    ["export", "NAME", "--to", "npz", "--output", "out/npz"],
    ["export", "NAME", "--to", "zip", "--output", "out/archive.zip"],
]


def of_graph(arguments: list[str], name: str, store: Path) -> list[str]:
    return [*(part.replace("NAME", name) for part in arguments), "--store", str(store)]


def test_all_that_reads_reads_them(
    store: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages of one graph, with one figure; that all can be drawn is tested elsewhere."""
    drawn = b'<svg viewBox="0 0 9 9"></svg>'
    monkeypatch.setattr(Figure, "savefig", lambda _, file, **__: file.write(drawn))
    monkeypatch.setitem(page.__kwdefaults__, "figures", [figure_named("neighborhood")])
    names = list(kept(store.stem))
    for name, arguments in itertools.product(names, READING):
        if arguments in DRAWING and name != names[-1]:
            continue
        shutil.rmtree(here / "out")
        (here / "out").mkdir()
        assert run(of_graph(arguments, name, store)) == 0
        if "zip" in arguments:
            other = here / "other.zarr"
            assert run(["import", "out/archive.zip", "--store", str(other)]) == 0
            for file in (store / name / "v001").rglob("*.*"):
                assert (other / file.relative_to(store)).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("schema", "name"), SPECS)
def test_the_same_spec_finds_them_and_builds_them_alike(
    schema: str, name: str, tmp_path: Path
) -> None:
    """A version of the package builds its own; entries are the same, weights equal to rounding."""
    store, spec = copied(schema, tmp_path), SPECS[schema, name]
    made = build_map if isinstance(spec, MapSpec) else build
    if isinstance(spec, GraphSpec):
        found = same_digest(spec, store, name)
        assert found is not None
        assert (found.name, found.version) == (name, "v001")
    published = made(spec, store, name=name)
    assert (published.built, published.version, published.difference) == (True, "v002", "")
    assert made(spec, tmp_path / "new.zarr", name=name).built
    again, before = golden.record(tmp_path / "new.zarr", name), kept(schema)[name]
    assert again["spec_sha256"] == before["spec_sha256"]
    assert again["arrays"].keys() == before["arrays"].keys()
    for path, array in again["arrays"].items():
        expected = before["arrays"][path]
        if "/gradients/" in path:
            continue  # below: an entry that is 0 but for rounding may be 0 on another processor
        if array["dtype"].startswith("int"):
            assert array == expected, path
        elif not path.endswith("eigenvectors"):
            assert array["shape"] == expected["shape"]
            assert array["sums"] == pytest.approx(expected["sums"], rel=1e-6, abs=1e-6), path
    if isinstance(spec, MapSpec):
        return
    levels = (open_store(folder)[name].levels for folder in (store, tmp_path / "new.zarr"))
    for first, second in zip(*levels, strict=True):
        for field in first.gradients.names if first.gradients else ():
            matrices = (graph.gradients.matrix(field).to_dense() for graph in (first, second))
            torch.testing.assert_close(*matrices, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("schema", ["1.7", "2.0"])
def test_later_schemas_are_refused(
    schema: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, and nothing is written; other graphs of the store are built."""
    store, generator = copied("1.0", here), {"name": "cheblienet", "version": "9.9.9"}
    for version in store.glob("*/v001"):
        reseal(version, lambda clg: clg.update(schema=schema, generator=generator))
    sentence = (
        f"{store}/sphere/v001 has schema '{schema}'; this version reads 1.0 to 1.6. "
        f"Install the version of cheblienet that wrote it: {generator}."
    )
    for arguments in READING:
        refused = failing(capsys, *of_graph(arguments, "sphere", store))
        assert refused == (1, f"Error: {sentence}\n")
    assert list((here / "out").iterdir()) == []
    assert run(["verify", "sphere", "--store", str(store)]) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith(f"/zarr.json: can't be checked: it{sentence.split('v001')[1]}\n")
    assert "1 fault" in captured.err
    listed = output(capsys, "ls", "--store", store, "--json")
    assert {of["name"]: of["fault"] for of in listed}["sphere"] == sentence
    assert {len(of["vertices"]) for of in listed} == {0}
    made = build(golden.SPECS["1.0"]["sphere"], store, name="sphere")
    assert (made.built, made.version) == (True, "v002")


def test_stores_of_a_later_layout_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything below them is read."""
    store = copied("1.0", here)
    edit(store / "zarr.json", lambda d: d["attributes"]["clg"].update(store_schema=2))
    sentence = (
        f"{store} has store schema 2; this version reads 1. "
        "Install the version of cheblienet that wrote it."
    )
    writing = ["tag", "NAME", "x"], ["rm", "NAME@v001"], ["build", "s2", "--subdivisions", "1"]
    for arguments in (*READING, *writing, ["ls"], ["verify"]):
        refused = failing(capsys, *of_graph(arguments, "sphere", store))
        assert refused == (1, f"Error: {sentence}\n")
    assert list((here / "out").iterdir()) == []
    with pytest.raises(StoreError) as caught:
        open_store(store)
    assert str(caught.value) == sentence
