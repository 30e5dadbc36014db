"""Messages are one line of bounded length, whatever they quote."""

import zipfile
from pathlib import Path
from typing import Any

import pytest
from sealing import reseal

import cheblienet_graphs.quoting
import cheblienet_models.errors
from cheblienet_cli.main import run
from cheblienet_graphs import GraphSpec, SpecError, StoreError, UnknownGraphError, build, inspect
from cheblienet_graphs.quoting import listed
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.archive import export_zip, import_zip
from cheblienet_graphs.store.refs import remove, tag, untag
from cheblienet_models import StoreError as ModelsStoreError
from cheblienet_models import open_store

DEEP: Any = []
for _ in range(500):
    DEEP = [DEEP]
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


@pytest.mark.parametrize("package", [cheblienet_graphs.quoting, cheblienet_models.errors])
@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_values_are_cut_and_escaped(package: Any, value: object) -> None:
    quoted = package.quoted(value)
    assert quoted.isprintable()
    assert 0 < len(quoted) <= 80


@pytest.mark.parametrize("value", ["se2", "a b", 3, 0.25, None, [1, 2], ("x", 2.5), {"a": 1}])
def test_ordinary_values_are_written_as_python_does(value: object) -> None:
    for package in (cheblienet_graphs.quoting, cheblienet_models.errors):
        assert package.quoted(value) == repr(value)


@pytest.mark.parametrize("kind", [StoreError, ModelsStoreError])
def test_messages_are_one_line(kind: type[Exception]) -> None:
    message = str(kind("a\nb\x1b[31m" + "c" * 9_000))
    assert message.startswith("a\\nb\\x1b[31mccc")
    assert message.isprintable()
    assert len(message) == 2_000


def test_long_lists_say_how_many_more_there_are() -> None:
    assert listed("abc") == "a, b, c"
    assert listed(map(str, range(500))).endswith("18, 19 and 480 more")


@pytest.mark.parametrize("value", HOSTILE[:-1], ids=range(len(HOSTILE) - 1))
def test_specifications(value: Any) -> None:
    for field in ("manifold", "size", "eps", "levels", "kernel", "points"):
        with pytest.raises(SpecError) as caught:
            GraphSpec(**{"manifold": "r2", "size": 8, field: value})
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", HOSTILE[:4], ids=range(4))
def test_names_of_graphs_and_refs(version: Path, name: str) -> None:
    store = version.parents[1]
    for attempt in (
        lambda: build(GraphSpec("r2", 4), store, name=name),
        lambda: inspect(store, name),
        lambda: inspect(store, f"g@{name}"),
        lambda: inspect(store, f"{name}@"),
        lambda: tag(store, "g", name),
        lambda: untag(store, "g", name),
        lambda: remove(store, name),
        lambda: remove(store, f"g@{name}"),
    ):
        with pytest.raises(UnknownGraphError) as caught:
            attempt()
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) < 600
    for asked in (name, f"g@{name}", f"{name}@"):
        with pytest.raises(ModelsStoreError) as refused:
            open_store(store)[asked]
        assert str(refused.value).isprintable()
        assert len(str(refused.value)) < 600


@pytest.mark.parametrize(
    "entry",
    ["g/" + "x" * 40_000, "g/\x1b[2J\n", "g/" * 9_000 + "x", "\n" * 9_000, "\u202e/x"],
    ids=range(5),
)
def test_entries_of_archives(version: Path, tmp_path: Path, entry: str) -> None:
    export_zip(version, tmp_path / "g.zip")
    with zipfile.ZipFile(tmp_path / "g.zip", "a") as archive:
        archive.writestr(entry, b"")
    with pytest.raises(StoreError, match="holds") as caught:
        import_zip(tmp_path / "g.zip", tmp_path / "other.zarr")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "key", ["x" * 40_000, "a/" * 9_000 + "b", "\x1b[2J\n", "../../etc"], ids=range(4)
)
def test_paths_in_manifests(version: Path, key: str) -> None:
    reseal(version, lambda clg: clg["manifest"].update({key: {"sha256": "0" * 64, "nbytes": 1}}))
    with pytest.raises(StoreError, match="manifest has") as caught:
        inspect(version.parents[1], "g")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500
    with pytest.raises(ModelsStoreError) as refused:
        open_store(version.parents[1], verify=True)["g"]
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) <= 2_000


def test_names_of_foreign_refs_and_folders(
    version: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = version.parents[1]
    (store / "\x1b[31mred").mkdir()
    attributes = layout.group_document({"clg": {"refs": {"latest": "v001"}}})
    (store / "\x1b[31mred" / "zarr.json").write_bytes(layout.document_bytes(attributes))
    (store / "\x1b[31mred" / "v001").mkdir()
    assert layout.graph_names(store) == ["g"]
    (store / "\x1b[32mgreen").mkdir()
    (store / "g" / "\x1b[2J\n").mkdir()
    assert run(["verify", "--store", str(store)]) == 1
    captured = capsys.readouterr()
    for line in [*captured.out.splitlines(), *captured.err.splitlines()]:
        assert line.isprintable()
    assert "\\x1b[31mred: is no name of a graph" in captured.out
    assert "\\x1b[32mgreen" in captured.out
    refs = {"latest": "v001", "\x1b[2J" * 9_000: "v001"}
    document = layout.group_document({"clg": {"refs": refs}})
    (store / "g" / "zarr.json").write_bytes(layout.document_bytes(document))
    assert run(["ls", "--store", str(store)]) == 0
    assert "unreadable" in capsys.readouterr().out
    assert run(["inspect", "g", "--store", str(store)]) == 1
    assert len(capsys.readouterr().err) < 500


@pytest.mark.parametrize(
    "arguments",
    [["x" * 40_000], ["build", "y\x1b[2J" * 9_000], ["inspect", "\n" * 9_000]],
    ids=range(3),
)
def test_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert run([*arguments, "--store", str(tmp_path / "g.zarr")]) == 2
    message = capsys.readouterr().err
    assert message.endswith("\n")
    assert message[:-1].isprintable()
    assert len(message) < 2_100
