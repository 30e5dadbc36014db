"""Masked levels: read as they were written, refused when changed; schemas that are not known."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from damage import edit, extend, field, shape, to_fifo, to_folder, to_link, truncate
from masked import GRAPHS, array
from sealing import reseal, reseal_file

from cheblienet_models import StoreError, open_store

INDEX = "levels/0/base_index"


@pytest.fixture
def version(masked_graphs: Path, tmp_path: Path) -> Path:
    """A private copy of a masked version."""
    shutil.copytree(masked_graphs / "ring", tmp_path / "g.zarr" / "ring")
    shutil.copy(masked_graphs / "zarr.json", tmp_path / "g.zarr")
    return tmp_path / "g.zarr/ring/v001"


def reopened(version: Path, *, verify: bool = False) -> object:
    return open_store(version.parents[1], verify=verify)["ring"]


@pytest.mark.parametrize("name", GRAPHS)
def test_masked_levels_are_read_as_they_were_written(masked_graphs: Path, name: str) -> None:
    pyramid = open_store(masked_graphs, verify=True)[name]
    for number, graph in enumerate(pyramid.levels):
        folder = masked_graphs / name / f"v001/levels/{number}"
        inside = array(folder / "base_index", 1)
        assert torch.equal(graph.base_index, torch.from_numpy(inside))
        assert graph.num_points == len(inside) == pyramid.spec["mask"]["inside"][number]
        assert graph.num_vertices == graph.orientations * len(inside)
        whole = open_store(masked_graphs)[f"whole-{name}"].levels[number]
        assert whole.base_index is None
        assert (whole.grid, whole.sampling) == (graph.grid, graph.sampling)
        assert whole.num_points == np.prod(whole.grid[1:])
        kept = np.concatenate([inside + k * whole.num_points for k in range(graph.orientations)])
        assert torch.equal(graph.coordinates, whole.coordinates[kept])


def write_index(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    """Other values, with digests that agree."""

    def mutate(version: Path) -> None:
        values = change(np.fromfile(version / INDEX / "c/0", "<i4"))
        reseal_file(version, f"{INDEX}/c/0", values.tobytes())

    return mutate


def put(place: int, value: int) -> Callable[[Path], None]:
    def change(values: np.ndarray) -> np.ndarray:
        values[place] = value
        return values

    return write_index(change)


def at(path: str, change: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda version: change(version / path)


def in_mask(**values: object) -> Callable[[Path], None]:
    return lambda version: reseal(version, lambda clg: clg["spec"]["mask"].update(values))


def in_spec(**values: object) -> Callable[[Path], None]:
    return lambda version: reseal(version, lambda clg: clg["spec"].update(values))


def without_mask(version: Path) -> None:
    reseal(version, lambda clg: clg["spec"].pop("mask"))


def larger_grid(version: Path) -> None:
    reseal(version, lambda clg: clg["levels"][0].update(grid=[4, 2**30, 2**30, 2**30]))


MUTATIONS = {
    "truncated": at(f"{INDEX}/c/0", truncate),
    "extended": at(f"{INDEX}/c/0", extend),
    "missing chunk": at(f"{INDEX}/c/0", Path.unlink),
    "missing": at(INDEX, shutil.rmtree),
    "link": at(INDEX, to_link),
    "link to the chunk": at(f"{INDEX}/c/0", to_link),
    "fifo": at(f"{INDEX}/c/0", to_fifo),
    "folder": at(f"{INDEX}/c/0", to_folder),
    "float": at(f"{INDEX}/zarr.json", field(data_type="float32")),
    "unsigned": at(f"{INDEX}/zarr.json", field(data_type="uint32")),
    "wide": at(f"{INDEX}/zarr.json", field(data_type="int64")),
    "two dimensions": at(f"{INDEX}/zarr.json", shape([14, 14])),
    "empty": at(f"{INDEX}/zarr.json", shape([0])),
    "compressed": at(f"{INDEX}/zarr.json", field(codecs=[{"name": "zstd"}])),
    "negative": put(0, -1),
    "unsorted": put(5, 250),
    "repeated": write_index(lambda values: np.repeat(values[::2], 2)[: len(values)]),
    "out of range": put(-1, 256),
    "far out of range": put(-1, 2**31 - 1),
    "longer": in_mask(inside=[197, 60]),
    "shorter": in_mask(inside=[195, 60]),
    "none inside": in_mask(inside=[0, 60]),
    "more than there are": in_mask(inside=[257, 60]),
    "of one level": in_mask(inside=[196]),
    "no list": in_mask(inside=196),
    "float counts": in_mask(inside=[196.0, 60]),
    "true": in_mask(inside=[True, 60]),
    "huge counts": in_mask(inside=[2**70, 60]),
    "a list for a mask": in_spec(mask=[]),
    "null for a mask": in_spec(mask=None),
    "without a mask": without_mask,
    "huge base": larger_grid,
}


@pytest.mark.parametrize("change", MUTATIONS.values(), ids=MUTATIONS)
def test_changed_masks_are_refused_in_one_line(
    version: Path, change: Callable[[Path], object]
) -> None:
    assert reopened(version, verify=True)
    change(version)
    for verify in (False, True):
        with pytest.raises(StoreError) as caught:
            reopened(version, verify=verify)
        assert len(str(caught.value)) < 1000
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [in_mask(sha256="0" * 64), in_mask(sha256=3), put(0, 0)])
def test_verification_compares_the_mask_with_its_digest(
    version: Path, change: Callable[[Path], object]
) -> None:
    change(version)
    assert reopened(version)
    with pytest.raises(StoreError, match="not those of its spec's mask"):
        reopened(version, verify=True)


@pytest.mark.parametrize("schema", ["1.2", "1.10", "1.999999999"])
def test_later_minor_schemas_ask_for_a_newer_package(version: Path, schema: str) -> None:
    edit(version / "zarr.json", lambda d: d["attributes"]["clg"].update(schema=schema))
    with pytest.raises(StoreError, match=rf"schema {schema}; .*1.0 to 1.1. Install a newer cheb"):
        reopened(version)


@pytest.mark.parametrize(
    "schema", ["1", "1.", "1.x", "1.01", "01.0", "1.1.0", "1.-1", "", None, 1.1]
)
def test_what_is_no_schema_is_refused(version: Path, schema: object) -> None:
    edit(version / "zarr.json", lambda d: d["attributes"]["clg"].update(schema=schema))
    with pytest.raises(StoreError, match=r"this version reads 1.x. Install the version"):
        reopened(version)
