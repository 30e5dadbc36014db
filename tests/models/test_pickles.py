"""Pickles of what was opened: of one version's numbers, whatever has taken its place since."""

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from refusing import refused
from sealing import put, reseal, reseal_array
from stores import Spec, publish

from cheblienet_graphs import GraphSpec, MapSpec
from cheblienet_models import Pyramid, StoreError, VertexMap, open_store, opening
from cheblienet_models.graphs.mapped import Mapped

GRAPH = GraphSpec("se2", 8, orientations=4, levels=2, gradients=True)
LIKE_IT = GraphSpec("se2", 8, orientations=4, levels=2, gradients=True, eps=0.5)
MAP = MapSpec(GraphSpec("r2", 8), GraphSpec("r2", 12), neighbors=4)
LIKE_THAT = MapSpec(GraphSpec("r2", 8), GraphSpec("r2", 12), neighbors=4, weights="uniform")
Change = Callable[[dict[str, Any]], object]


def module_of(store: Path, spec: Spec) -> Pyramid | VertexMap:
    opened = open_store(store)
    return opened["g"] if isinstance(spec, GraphSpec) else opened.maps["g"]


def pickles_of(module: Mapped) -> list[bytes]:
    """Of the module, and of all its parts by themselves."""
    return [pickle.dumps(part) for part in module.modules() if isinstance(part, Mapped)]


def check_refused(store: Path, pickles: list[bytes]) -> None:
    message = (
        f"^{store}/g/v001 is another one than was pickled: .*Pickles hold no graph but where "
        f"g@v001 was, in {store}: put the store back .*as a state_dict"
    )
    for data in pickles:
        refused(message, pickle.loads, data, error=StoreError)


def of_facts(spec: Spec, **values: object) -> Change:
    """Change the facts of a version, of a graph's coarsest level."""
    if isinstance(spec, GraphSpec):
        return lambda clg: clg["levels"][-1].update(values)
    return lambda clg: clg["map"].update(values)


@pytest.mark.parametrize(
    ("spec", "other", "array"),
    [(GRAPH, LIKE_IT, "levels/1/laplacian/data"), (MAP, LIKE_THAT, "transposed/data")],
    ids=["graph", "map"],
)
def test_the_same_numbers_are_opened_and_no_others(
    tmp_path: Path, spec: Spec, other: Spec, array: str
) -> None:
    store = tmp_path / "g.zarr"
    publish({"g": spec}, store)
    pickles = pickles_of(module_of(store, spec))
    assert all(len(data) < 1000 for data in pickles)
    assert pickles_of(pickle.loads(pickles[0])) == pickles

    def rebuilt(spec: Spec) -> Path:
        shutil.rmtree(store)
        publish({"g": spec}, store)
        return store / "g/v001"

    elsewhere = {"created": "2031-01-01T00:00:00+00:00", "generator": {"name": "x", "version": "9"}}
    reseal(rebuilt(spec), lambda clg: clg.update(elsewhere))
    assert all(pickle.loads(data) for data in pickles)
    for same in (lambda: rebuilt(other), lambda: rebuilt(MAP if spec is GRAPH else GRAPH)):
        same()
        check_refused(store, pickles)
    reseal_array(rebuilt(spec), array, put(0, 0.5))
    check_refused(store, pickles)
    for change in (lambda clg: clg["spec"].update(more=1), of_facts(spec, more=1)):
        reseal(rebuilt(spec), change)
        check_refused(store, pickles)


def test_pickles_of_earlier_releases_have_no_digest(tmp_path: Path) -> None:
    for name, spec in (("graph", GRAPH), ("map", MAP)):
        store = tmp_path / f"{name}.zarr"
        publish({"g": spec}, store)
        call, (*handle, digest) = module_of(store, spec).handle
        assert (call, len(digest)) == (opening.open_version, 64)
        assert str(call(*handle)) == str(module_of(store, spec))
        assert call(*handle).handle == (call, (*handle, digest))
