"""Stores that were written once, for each schema: what is released stays readable, by all means."""

import json
import shutil
from pathlib import Path
from typing import Any

import golden
import numpy as np
import pytest
import scipy.sparse
import torch
from damage import edit
from failures import failing
from sealing import reseal, writable

import cheblienet_models
from cheblienet_cli.main import run
from cheblienet_graphs import build
from cheblienet_models import Graph, Pyramid, open_store

NAMES = [(schema, name) for schema, specs in golden.SPECS.items() for name in specs]
CSR = ("indptr", "indices", "data")
PARTS = ("row_pointers", "columns", "values")
NPZ_NAMES = {"coordinates", "degree", "area", "base_index", "eigenvalues", "eigenvectors"}


def kept(schema: str) -> dict[str, Any]:
    """What was found in the store of a schema when it was written, by name of the graph."""
    return json.loads((golden.KEPT / f"{schema}.json").read_text())


def copied(schema: str, folder: Path) -> Path:
    """A copy of the store of a schema, writable."""
    return writable(Path(shutil.copytree(golden.KEPT / schema, folder / f"{schema}.zarr")))


@pytest.fixture(params=golden.SPECS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return copied(request.param, tmp_path)


def matrix(path: str, parts: Any) -> dict[str, np.ndarray]:
    return {f"{path}/{name}": np.asarray(part) for name, part in zip(CSR, parts, strict=True)}


def level_arrays(path: str, graph: Graph) -> dict[str, np.ndarray]:
    """The arrays of a level by their paths in the store, as training has them."""
    found = matrix(f"{path}/laplacian", graph.laplacian_parts())
    for direction in graph.directional:
        parts = (getattr(graph, f"{direction}_{part}") for part in PARTS)
        found |= matrix(f"{path}/directional/{direction}", parts)
    fields = {"coordinates": graph.coordinates, "degree": graph.degree, "area": graph.area}
    fields |= {"eigenvalues": graph.eigenvalues, "eigenvectors": graph.eigenvectors}
    fields["base_index"] = graph.base_index
    return found | {f"{path}/{k}": np.asarray(v) for k, v in fields.items() if v is not None}


def csr_parts(tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tensor.crow_indices(), tensor.col_indices(), tensor.values()


def pyramid_arrays(pyramid: Pyramid) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for level, graph in enumerate(pyramid.levels):
        found |= level_arrays(f"levels/{level}", graph)
    for fine in range(len(pyramid.levels) - 1):
        down, up = f"pooling/{fine}to{fine + 1}", f"unpooling/{fine + 1}to{fine}"
        found |= matrix(down, csr_parts(pyramid.pooling(fine).matrix()))
        found |= matrix(up, csr_parts(pyramid.unpooling(fine).matrix()))
    return found


def npz_arrays(folder: Path) -> dict[str, np.ndarray]:
    """The arrays of an export by their paths in the store."""
    found: dict[str, np.ndarray] = {}
    for file in folder.glob("*.np[yz]"):
        kind, where = file.stem.rsplit("-", 1)
        if kind in NPZ_NAMES:
            found[f"levels/{where}/{kind}"] = np.load(file)
            continue
        own = {"laplacian": f"levels/{where}/laplacian", "pooling": f"pooling/{where}"}
        own["unpooling"] = f"unpooling/{where}"
        path = own.get(kind, f"levels/{where}/directional/{kind}")
        csr = scipy.sparse.load_npz(file)
        found |= matrix(path, (csr.indptr, csr.indices, csr.data))
    return found


def output(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    """What a command that must succeed prints as JSON."""
    assert run(list(map(str, arguments))) == 0
    return json.loads(capsys.readouterr().out)


def test_there_is_a_store_for_each_schema_that_is_read() -> None:
    assert {path.name for path in golden.KEPT.iterdir() if path.is_dir()} == set(golden.SPECS)
    for schema, specs in golden.SPECS.items():
        assert kept(schema).keys() == specs.keys()
        assert {of["schema"] for of in kept(schema).values()} == {schema}
        assert {spec.schema for spec in specs.values()} == {schema}


@pytest.mark.parametrize("verify", [False, True])
def test_training_opens_them(store: Path, verify: bool) -> None:
    opened, known = open_store(store, verify=verify), kept(store.stem)
    assert set(opened) == known.keys()
    for name, pyramid in opened.items():
        expected = known[name]
        assert pyramid.identity.spec_sha256 == expected["spec_sha256"]
        assert pyramid.identity.version == "v001"
        found = {key: golden.recorded(array) for key, array in pyramid_arrays(pyramid).items()}
        assert found == expected["arrays"]
        for graph, facts in zip(pyramid.levels, expected["levels"], strict=True):
            assert graph.grid == tuple(facts["grid"])
            assert (graph.num_vertices, graph.num_edges) == (facts["vertices"], facts["edges"])
            assert (graph.lambda_max, graph.eigenvalue_scale) == (
                *(facts["lambda_max"], facts["eigenvalue_scale"]),
            )


def test_inspect_reports_them(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, expected in kept(store.stem).items():
        report = output(capsys, "inspect", name, "--store", store, "--json", "--eigenvalues", "1")
        assert (report["name"], report["version"]) == (name, "v001")
        assert report["generator"] == expected["generator"]
        assert report["spec_sha256"] == expected["spec_sha256"]
        assert len(report["levels"]) == len(expected["levels"])
        for found, facts in zip(report["levels"], expected["levels"], strict=True):
            assert {key: found[key] for key in facts} == facts


def test_verify_and_ls_know_them(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = kept(store.stem)
    checked = output(capsys, "verify", "--store", store, "--json", "--quiet")
    versions = sorted(f"{name}/v001" for name in known)
    assert checked == {"versions": versions, "faults": [], "remarks": [], "leftovers": 0}
    listed = output(capsys, "ls", "--store", store, "--json")
    assert [(of["name"], of["refs"], of["fault"]) for of in listed] == [
        (name, ["latest"], None) for name in sorted(known)
    ]
    for of in listed:
        assert of["vertices"] == [level["vertices"] for level in known[of["name"]]["levels"]]


def test_export_has_their_arrays(store: Path, tmp_path: Path) -> None:
    for name, expected in kept(store.stem).items():
        folder = tmp_path / f"{name}-npz"
        arguments = ("export", name, "--to", "npz", "--output", folder, "--store", store)
        assert run(list(map(str, arguments))) == 0
        found = {key: golden.recorded(array) for key, array in npz_arrays(folder).items()}
        assert found == expected["arrays"]


def test_archives_of_them_are_the_same_versions(store: Path, tmp_path: Path) -> None:
    for name in kept(store.stem):
        archive, other = tmp_path / f"{name}.zip", tmp_path / "other.zarr"
        to = ("--to", "zip", "--output", str(archive))
        assert run(["export", name, *to, "--store", str(store)]) == 0
        assert run(["import", str(archive), "--store", str(other)]) == 0
        files = [path for path in (store / name / "v001").rglob("*") if path.is_file()]
        assert len(files) > 10
        for file in files:
            assert (other / file.relative_to(store)).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("schema", "name"), NAMES)
def test_a_build_of_the_same_spec_finds_them(schema: str, name: str, tmp_path: Path) -> None:
    """And built anew it has the same digest, the same edges and weights equal to rounding."""
    store, spec = copied(schema, tmp_path), golden.SPECS[schema][name]
    found = build(spec, store, name=name)
    assert (found.built, found.version, found.other) == (False, "v001", None)
    assert build(spec, tmp_path / "new.zarr", name=name).built
    again, before = golden.record(tmp_path / "new.zarr", name), kept(schema)[name]
    assert again["spec_sha256"] == before["spec_sha256"]
    assert again["arrays"].keys() == before["arrays"].keys()
    for path, array in again["arrays"].items():
        expected = before["arrays"][path]
        if array["dtype"].startswith("int"):
            assert array == expected, path
        elif not path.endswith("eigenvectors"):
            assert array["shape"] == expected["shape"]
            assert array["sums"] == pytest.approx(expected["sums"], rel=1e-6, abs=1e-6), path


LATER = {
    "1.3": "this version reads 1.0 to 1.2. Install a newer cheblienet; it was written by {by}.",
    "2.0": "this version reads 1.x. Install the version of cheblienet that wrote it: {by}.",
}


@pytest.fixture(params=LATER)
def later(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A store of a schema that comes later, whose digests agree, and what is said of its sphere."""
    store = copied("1.0", tmp_path)
    generator = {"name": "cheblienet", "version": "9.9.9"}
    for version in store.glob("*/v001"):
        reseal(version, lambda clg: clg.update(schema=request.param, generator=generator))
    schema = f"'{request.param}'" if request.param == "2.0" else request.param
    words = LATER[request.param].format(by=generator)
    return store, f"{store}/sphere/v001 has schema {schema}; {words}"


READING = [
    ["inspect", "sphere"],
    ["inspect", "sphere", "--json"],
    ["inspect", "sphere", "--html", "out/page.html"],
    ["plot", "spectrum", "sphere", "-o", "out/figure.png"],
    ["diff", "sphere", "sphere@v001"],
    ["neighbors", "sphere", "--vertex", "0"],
    *(["export", "sphere", "--to", to, "--output", f"out/{to}"] for to in ("scipy", "npz", "pyg")),
    ["export", "sphere", "--to", "zip", "--output", "out/zip"],
]


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_commands_refuse_later_schemas(
    later: tuple[Path, str],
    arguments: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In one line, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    code, message = failing(capsys, *arguments, "--store", str(later[0]))
    assert (code, message) == (1, f"Error: {later[1]}\n")
    assert list((tmp_path / "out").iterdir()) == []


def test_verify_ls_and_build_tell_of_later_schemas(
    later: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, sentence = later
    assert run(["verify", "sphere", "--store", str(store)]) == 1
    told = capsys.readouterr()
    assert told.out == f"sphere/v001/zarr.json: can't be checked: {sentence}\n"
    assert told.err.count("\n") == 1
    assert "1 fault" in told.err
    listed = output(capsys, "ls", "--store", store, "--json")
    assert {of["name"]: of["fault"] for of in listed}["sphere"] == sentence
    assert {len(of["vertices"]) for of in listed} == {0}
    made = build(golden.SPECS["1.0"]["sphere"], store, name="sphere")
    assert (made.built, made.version) == (True, "v002")


def test_stores_of_a_later_layout_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything below them is read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    store = copied("1.0", tmp_path)
    edit(store / "zarr.json", lambda d: d["attributes"]["clg"].update(store_schema=2))
    sentence = (
        f"{store} has store schema 2; this version reads 1. "
        "Install the version of cheblienet that wrote it."
    )
    naming = ["tag", "sphere", "x"], ["rm", "sphere@v001"]
    building = ["build", "s2", "--subdivisions", "1"]
    for arguments in (*READING, *naming, ["ls"], ["verify"], building):
        code, message = failing(capsys, *arguments, "--store", str(store))
        assert (code, message) == (1, f"Error: {sentence}\n")
    assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(cheblienet_models.StoreError) as refused:
        open_store(store)
    assert str(refused.value) == sentence
