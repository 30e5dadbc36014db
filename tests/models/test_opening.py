"""Opening stores: zero-copy, silent, and pickled as handles."""

import gc
import os
import pickle
import resource
import shutil
import warnings
from pathlib import Path

import pytest
import torch
import zarr
from damage import edit
from refusing import refused

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.store import catalog
from cheblienet_models import (
    ChebConv,
    LevelMap,
    OrientedLift,
    StoreError,
    WideResNet,
    open_store,
    sample_edges,
    sample_vertices,
)


def anonymous_kilobytes() -> int:
    """Private memory of this process, by the kernel's account."""
    text = Path("/proc/self/smaps_rollup").read_text()
    return int(text.split("Anonymous:")[1].split()[0])


def test_mapping_interface(store: Path) -> None:
    opened = open_store(store)
    assert list(opened) == ["r2-24x16", "se2-16x16x6", "torus"]
    assert len(opened) == 3
    for name in ("torus", "torus@v001", "torus@latest"):
        assert name in opened
        assert opened[name].version == "v001"
    for name in ("nothing", "torus@v002", "torus@paper", "torus@", "", "..", "../x", "a/b", 3):
        assert name not in opened
        with pytest.raises(StoreError, match=r"There: |name is text|Nothing follows") as caught:
            opened[name]
        assert isinstance(caught.value, KeyError)
    assert "torus" in repr(opened)


def test_a_version_that_goes_meanwhile(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = lambda root, *_: root / "torus" / "v009"  # noqa: E731
    monkeypatch.setattr(catalog, "version_of", gone)
    refused("can't be read", open_store(store).__getitem__, "torus", error=StoreError)


def test_refs_name_versions(copy: Path) -> None:
    """The newest is the latest by its number, whatever is written down as that."""
    graph = copy / "torus"
    for version in ("v002", "v1000", "v12", "v900", "w003"):
        shutil.copytree(graph / "v001", graph / version)
    refs = {"paper": "v002", "latest": "v001", "lost": "v007"}
    edit(graph / "zarr.json", lambda d: d["attributes"]["clg"].update(refs=refs))
    opened = open_store(copy)
    for name, version in (("torus", "v1000"), ("torus@paper", "v002"), ("torus@v900", "v900")):
        assert opened[name].version == version
        assert name in opened
    for unknown in ("v003", "v12", "w003", "lost", "none"):
        message = f"No version '{unknown}' of torus. There: v001, v002, v900, v1000"
        refused(message, opened.__getitem__, f"torus@{unknown}", error=StoreError)


def test_opening_copies_nothing_and_warns_of_nothing(tmp_path: Path) -> None:
    build(GraphSpec("se2", 128, orientations=6, levels=2), tmp_path / "g.zarr", name="large")
    opened = open_store(tmp_path / "g.zarr")
    opened["large"]
    before = anonymous_kilobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyramid = opened["large"]
        product = pyramid.levels[0].laplacian @ torch.ones(pyramid.levels[0].num_vertices, 1)
    growth = anonymous_kilobytes() - before
    assert all(isinstance(part(0), LevelMap) for part in (pyramid.pooling, pyramid.unpooling))
    assert pyramid.levels[0].laplacian.values().data_ptr() == pyramid.levels[0].values.data_ptr()
    nbytes = 8 * len(pyramid.levels[0].values)
    assert nbytes > 10_000_000
    assert growth < nbytes / 1000 / 4
    assert product.abs().max() < 2
    names = ("levels/0/laplacian/data", "levels/0/laplacian/indices", "pooling/0to1/indices")
    maps = Path("/proc/self/maps").read_text()
    assert all(f"v001/{name}/c/0" in maps for name in names)


def test_maps_survive_a_store_that_is_moved_or_restored(store: Path, tmp_path: Path) -> None:
    """As the page on sharing says to restore a backup: a copy beside it, then renamed."""
    here, restored, replaced = (tmp_path / f"{n}.zarr" for n in ("here", "restored", "replaced"))
    shutil.copytree(store, here)
    opened = open_store(here)
    graph = opened["torus"].levels[0]
    expected, x = graph.values.clone(), torch.randn(graph.num_vertices, 1)
    data = pickle.dumps(graph)
    shutil.copytree(store, restored)
    here.rename(replaced)
    refused("No such file", opened.__getitem__, "torus", error=StoreError)
    restored.rename(here)
    for kept in (replaced, None):
        assert torch.equal(graph.values, expected)
        assert torch.equal(graph.laplacian @ x, pickle.loads(data).laplacian @ x)
        assert torch.equal(opened["torus"].levels[0].values, expected)
        if kept:
            shutil.rmtree(kept)


def test_what_is_opened_or_drawn_while_evaluating_can_be_trained_on(store: Path) -> None:
    with torch.inference_mode():
        graph = open_store(store)["torus"].levels[0]
        again = pickle.loads(pickle.dumps(graph))
        lift = OrientedLift(again, "cake")
        sample_edges(graph, 0.5)
    layer, x = ChebConv(2, 3, 3, graph), torch.randn(1, 2, graph.num_vertices, requires_grad=True)
    for training in (True, False):
        layer.train(training)(x).sum().backward()
    image = torch.randn(1, 2, 16, 16, requires_grad=True)
    ChebConv(2, 3, 3, again)(lift(image)).sum().backward()
    with torch.inference_mode():
        sample_vertices(graph, 0.5)
    layer.train()(x).sum().backward()


def test_no_descriptor_outlives_its_maps(store: Path) -> None:
    def held() -> list[Path]:
        """Files of the store that are open; what else is open here is not ours to count."""
        gc.collect()
        descriptors = map(Path.resolve, Path("/proc/self/fd").iterdir())
        return [file for file in descriptors if store in (file, *file.parents)]

    opened = open_store(store)
    with (store / "zarr.json").open():
        assert store / "zarr.json" in held()  # the test can tell
    before = held()
    pyramids = [opened["torus"] for _ in range(20)]
    with pytest.raises(StoreError):
        opened["nothing"]
    assert held() == before
    assert len({pyramid.levels[0].values.data_ptr() for pyramid in pyramids}) == 20


def test_pickles_whose_store_has_moved(store: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "graphs.zarr", tmp_path / "moved.zarr"
    shutil.copytree(store, here)
    network = WideResNet(open_store(here)["torus"], 1, 2, kernel_size=2, depth=1, widen=1)
    pyramid, level = network.pyramid, network.pyramid.levels[0]
    pickles = [pickle.dumps(part) for part in (network, pyramid, level, pyramid.pooling(0))]
    assert max(len(data) for data in pickles[1:]) < 1000  # handles
    here.rename(there)
    for data in pickles:
        message = f"^{here} can't be read: No such file.*Pickles hold.*torus@v001 was, in {here}: "
        refused(message, pickle.loads, data, error=StoreError)
    here.symlink_to(there)
    for data in pickles:
        pickle.loads(data)
    moved = WideResNet(open_store(there)["torus"], 1, 2, kernel_size=2, depth=1, widen=1)
    moved.load_state_dict(network.state_dict())


def test_stores_of_more_graphs_than_files_may_be_open(tmp_path: Path) -> None:
    store = tmp_path / "many.zarr"
    build(GraphSpec("r2", 4, levels=1), store, name="g")
    for number in range(40):
        shutil.copytree(store / "g", store / f"g{number}")
    with warnings.catch_warnings(action="ignore"):
        zarr.consolidate_metadata(str(store))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    now = max(map(int, os.listdir("/proc/self/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (now + 32, hard))
    try:
        assert len(list(open_store(store))) == 41
        assert open_store(store, verify=True)["g7"].version == "v001"
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
