"""Messages are one line of bounded length, whatever they quote."""

import copy
import pickle
import shutil
import zipfile
from collections.abc import Callable
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pytest
from failures import failing
from refusing import refused
from sealing import reseal

from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, SpecError, StoreError, UnknownGraphError, build, inspect
from cheblienet_graphs.archives.zips import export_zip, import_zip
from cheblienet_graphs.errors import MISSING, listed, quoted
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.refs import remove, tag, untag
from cheblienet_models import open_store

DEEP: Any = reduce(lambda inner, _: [inner], range(500), [])
HOSTILE = [
    "x" * 40_000,
    "\x1b[2J\r\n" * 9_000,
    "\u202egpj.exe",
    "\ud800",
    10**6000,
    [10**6000] * 9,
    {"a" * 9_000: ["b" * 9_000] * 9_000},
    DEEP,
    b"\x00" * 9_000,
    float("nan"),
]


@pytest.fixture
def version(tmp_path: Path) -> Path:
    build(GraphSpec("r2", 4), tmp_path / "g.zarr", name="g")
    return tmp_path / "g.zarr/g/v001"


def check_one_line(text: str, most: int = 600) -> None:
    assert text.isprintable()
    assert 0 < len(text) <= most


def test_values_are_cut_and_escaped() -> None:
    for hostile in HOSTILE:
        check_one_line(quoted(hostile), 80)
    for ordinary in ("se2", "a b", 3, 0.25, None, [1, 2], ("x", 2.5), {"a": 1}):
        assert quoted(ordinary) == repr(ordinary)


@pytest.mark.parametrize("found", [MISSING, 3])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_of_errors_say_the_same(found: object, copied: Callable) -> None:
    error = SpecError("neighbors", "given", found)
    assert str(copied(error)) == str(error)
    assert ("Got" in str(error)) is (found == 3)


def test_messages_are_one_line() -> None:
    message = str(StoreError("a\nb\x1b[31m" + "c" * 9_000))
    assert message.startswith("a\\nb\\x1b[31mccc")
    check_one_line(message, 2_000)


def test_long_lists_say_how_many_more_there_are() -> None:
    assert listed("abc") == "a, b, c"
    assert listed(map(str, range(500))).endswith("18, 19 and 480 more")


@pytest.mark.parametrize("value", HOSTILE[:-1], ids=range(len(HOSTILE) - 1))
def test_specifications(value: Any) -> None:
    for field in ("manifold", "size", "eps", "levels", "kernel", "points"):
        fields = {"manifold": "r2", "size": 8, field: value}
        refused(".", GraphSpec, **fields, error=SpecError, most=600)


@pytest.mark.parametrize("name", HOSTILE[:4], ids=range(4))
def test_names_of_graphs_refs_and_files(version: Path, name: str) -> None:
    store = version.parents[1]
    for attempt in (
        lambda: build(GraphSpec("r2", 4), store, name=name),
        *(partial(inspect, store, asked) for asked in (name, f"g@{name}", f"{name}@")),
        lambda: tag(store, "g", name),
        lambda: untag(store, "g", name),
        lambda: remove(store, f"g@{name}"),
    ):
        refused(".", attempt, error=UnknownGraphError, most=600)
    for asked in (name, f"g@{name}", f"{name}@"):
        refused(".", open_store(store).__getitem__, asked, error=StoreError)


PATHS = ["g/" + "x" * 40_000, "g/\x1b[2J\n", "g/" * 9_000 + "x", "\n" * 9_000, "../../etc"]


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_paths_in_archives_and_manifests(version: Path, tmp_path: Path, path: str) -> None:
    export_zip(Folder(version), tmp_path / "g.zip")
    with zipfile.ZipFile(tmp_path / "g.zip", "a") as archive:
        archive.writestr(path, b"")
    reseal(version, lambda clg: clg["manifest"].update({path: {"sha256": "0" * 64, "nbytes": 1}}))
    store = version.parents[1]
    other = tmp_path / "other.zarr"
    refused("holds", import_zip, tmp_path / "g.zip", other, error=StoreError, most=600)
    refused("manifest has", inspect, store, "g", error=StoreError, most=600)
    refused(".", open_store(store, verify=True).__getitem__, "g", error=StoreError)


def test_names_of_foreign_refs_and_folders(
    version: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = version.parents[1]
    shutil.copytree(store / "g", store / "\x1b[31mred")
    (store / "\x1b[32mgreen").mkdir()
    assert catalog.graph_names(Folder(store)) == ["g"]
    assert run(["verify", "--store", str(store)]) == 1
    captured = capsys.readouterr()
    for line in [*captured.out.splitlines(), *captured.err.splitlines()]:
        check_one_line(line)
    assert "\\x1b[31mred: is no name of a graph" in captured.out
    assert "\\x1b[32mgreen" in captured.out
    refs = {"latest": "v001", "\x1b[2J" * 9_000: "v001"}
    document = layout.group_document({"clg": {"refs": refs}})
    (store / "g" / "zarr.json").write_bytes(layout.document_bytes(document))
    assert run(["ls", "--store", str(store)]) == 0
    assert "unreadable" in capsys.readouterr().out


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["x" * 40_000], ["build", "y\x1b[2J" * 9_000], ["inspect", "\n" * 9_000]):
        assert failing(capsys, *arguments, "--store", str(tmp_path / "g.zarr"))[0] == 2
