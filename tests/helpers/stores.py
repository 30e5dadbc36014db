"""Stores and graphs that tests build for themselves."""

import atexit
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

from cheblienet_graphs import GraphSpec, MapSpec, build, build_map
from cheblienet_models import Graph, Pyramid, Store, open_store

Spec = GraphSpec | MapSpec


def publish(specs: Mapping[str, Spec], store: Path) -> None:
    """Build graphs and maps into a store, by name."""
    for name, spec in specs.items():
        if isinstance(spec, MapSpec):
            build_map(spec, store, name=name)
        else:
            build(spec, store, name=name, device="cpu")


def store_of(specs: Mapping[str, Spec], scope: Any = "module", *, opened: bool = False) -> Any:
    """A fixture: a store with these graphs and maps, built once in a scope; its path, or opened."""

    @pytest.fixture(scope=scope)
    def store(tmp_path_factory: pytest.TempPathFactory) -> Path | Store:
        path = tmp_path_factory.mktemp("built") / "graphs.zarr"
        publish(specs, path)
        return open_store(path) if opened else path

    return store


def folder() -> Path:
    """One for stores that functions build once; it is deleted when all tests have run."""
    made = mkdtemp(prefix="cheblienet-tests-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def level(store: Path, name: str) -> Graph:
    """The finest of a graph of a store."""
    return open_store(store)[name].levels[0]


def pyramid_of(folder: Path, spec: GraphSpec) -> Pyramid:
    """A graph built into a folder's store and opened."""
    built = build(spec, folder / "g.zarr", device="cpu")
    return open_store(folder / "g.zarr")[built.name]
