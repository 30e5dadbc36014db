"""Specifications opened: the graph that was asked for, built once, found whatever its name."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, StoreError, build, open_or_build
from cheblienet_graphs.errors import OtherGraphWarning
from cheblienet_graphs.store import catalog, layout
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import listing

SPEC = GraphSpec("se2", 12, orientations=4, levels=1)
OPENED = """
import os, sys
from cheblienet_graphs import GraphSpec, open_or_build
import cheblienet_models
go, ready = os.pipe()
for _ in range(3):
    if not os.fork():
        os.close(ready)
        os.read(go, 1)
        pyramid = open_or_build(GraphSpec("se2", 32, orientations=6), sys.argv[1])
        line = f"{pyramid.name} {pyramid.version} {pyramid.levels[0].num_edges}\\n"
        os.write(1, line.encode())  # whole, where print might write it in pieces
        os._exit(0)
os.close(ready)
sys.exit(any(os.wait()[1] for _ in range(3)))
"""


@pytest.mark.parametrize("name", [None, "digits"])
def test_alphas_in_turn_open_the_graph_that_was_asked_for(tmp_path: Path, name: str | None) -> None:
    alphas, first = (40, 2, 40), {}
    for alpha in alphas:
        spec = GraphSpec("se2", 12, orientations=4, levels=1, alpha=alpha)
        if name and first and alpha not in first:
            with pytest.warns(OtherGraphWarning, match="alpha 40 -> 2") as warned:
                pyramid = open_or_build(spec, tmp_path / "g.zarr", name=name)
            assert warned[0].filename == __file__  # whose line it is
        else:
            pyramid = open_or_build(spec, tmp_path / "g.zarr", name=name)
        assert pyramid.spec_sha256 == spec.sha256
        first.setdefault(alpha, (pyramid.name, pyramid.version))
        assert (pyramid.name, pyramid.version) == first[alpha]
    assert len(set(first.values())) == 2
    assert len(listing(tmp_path / "g.zarr")) == 2


def test_it_is_found_under_another_name_and_beside_damaged_graphs(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    build(GraphSpec("r2", 8), store)
    build(SPEC, store, name="zebra")
    build(SPEC, store, name="damaged")
    document = store / "damaged" / "v001" / "zarr.json"
    document.chmod(0o644)
    document.write_text("{}")
    assert open_or_build(SPEC, store).name == "zebra"
    build(SPEC, store)
    assert open_or_build(SPEC, store).name == SPEC.default_name
    assert open_or_build(SPEC, store, name="zebra").name == "zebra"
    assert len(list(listing(store))) == 4


@pytest.mark.slow
def test_processes_that_call_at_once_build_once(tmp_path: Path) -> None:
    """All have imported what they need, and begin when the last of them is there."""
    store = tmp_path / "g.zarr"
    command = [sys.executable, "-c", OPENED, str(store)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    told, *others = done.stdout.splitlines()
    assert others == [told] * 2
    assert told.startswith("se2-32x32x6 v001 ")
    assert catalog.versions(Folder(store / "se2-32x32x6")) == ["v001"]
    assert not layout.staging_folder(store).exists()


def test_a_builder_that_was_killed_leaves_its_turn_to_others(tmp_path: Path) -> None:
    store = tmp_path / "g.zarr"
    left = layout.staging_folder(store) / f"opening-{SPEC.sha256[:32]}"
    left.mkdir(parents=True)
    assert open_or_build(SPEC, store).version == "v001"
    assert not left.parent.exists()


def test_a_store_that_cannot_be_written_is_read_or_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(SPEC, tmp_path / "g.zarr")
    before = sorted(tmp_path.rglob("*"))

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "mkdir", refuse)
    assert open_or_build(SPEC, tmp_path / "g.zarr").version == "v001"
    with pytest.raises(StoreError) as refused:
        open_or_build(GraphSpec("r2", 8), tmp_path / "g.zarr")
    assert str(refused.value) == (
        f"{tmp_path}/g.zarr has no graph of this specification and can't be written: Read-only "
        "file system; choose another `store`."
    )
    assert sorted(tmp_path.rglob("*")) == before


def test_a_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path) -> None:
    """Where a link leads nowhere, and where the system has no such folder."""
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for parent in (tmp_path / "link", Path("/proc")):
        with pytest.raises(StoreError, match=r"has no graph of .* and can't be written: \w+ "):
            open_or_build(SPEC, parent / "g.zarr")
        with pytest.raises(StoreError, match=r"g\.zarr can't be written: "):
            build(SPEC, parent / "g.zarr")


def test_an_icosphere_without_weights_is_another_graph_than_before(tmp_path: Path) -> None:
    """A store has the graph of kernel weights under the name that the default has now."""
    spec, store = GraphSpec("s2", subdivisions=1), tmp_path / "g.zarr"
    paper = GraphSpec("s2", subdivisions=1, weights="kernel")
    build(paper, store, name=spec.default_name)
    with pytest.warns(OtherGraphWarning, match="weights kernel -> voronoi"):
        pyramid = open_or_build(spec, store)
    assert (pyramid.spec["weights"], pyramid.version) == ("voronoi", "v002")
    assert open_or_build(paper, store).version == "v001"
    assert open_or_build(GraphSpec("s2", subdivisions=1, neighbors=8), store).version == "v001"
