"""Masked graphs as they are built, against copies of unmasked ones that training is tested on."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from masked import GRAPHS, array, sparse

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import open_store

EQUAL = ("grid", "vertices", "edges", "nnz", "isolated", "xi", "bandwidth")


@pytest.fixture(params=GRAPHS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def built(masked_graphs: Path, tmp_path: Path, name: str) -> Path:
    """The version that the builder makes of a graph's points inside."""
    spec, mask = GRAPHS[name]
    whole = open_store(masked_graphs)[f"whole-{name}"].levels[0]
    shape = tuple(whole.grid[1:])
    inside = mask(whole.coordinates[: whole.num_points].numpy(), shape)
    inside = inside.reshape(shape) if spec.geometry.base.flat else inside.ravel()
    build(GraphSpec.from_dict(spec.to_dict() | {"mask": inside}), tmp_path / "g.zarr", name="built")
    return tmp_path / "g.zarr/built/v001"


def recorded(version: Path) -> dict[str, Any]:
    return json.loads((version / "zarr.json").read_bytes())["attributes"]["clg"]


def delta(level: Path, facts: dict[str, Any]) -> np.ndarray:
    """The Laplacian before it was rescaled."""
    stored = sparse(level / "laplacian").astype(float)
    identity = scipy.sparse.eye(stored.shape[0])
    return (facts["lambda_max"] / 2 * (stored + identity)).toarray()


def test_builds_are_what_unmasked_ones_say(masked_graphs: Path, built: Path, name: str) -> None:
    made = masked_graphs / name / "v001"
    found, expected = recorded(built), recorded(made)
    assert found["spec"] == expected["spec"]
    assert found["spec_sha256"] == expected["spec_sha256"]
    assert found["schema"] == expected["schema"] == "1.1"
    assert found["manifest"].keys() == expected["manifest"].keys()
    for number, (own, other) in enumerate(zip(found["levels"], expected["levels"], strict=True)):
        here, there = built / f"levels/{number}", made / f"levels/{number}"
        assert {key: own[key] for key in EQUAL} == {key: other[key] for key in EQUAL}
        assert own["in_plane_fraction"] == pytest.approx(other["in_plane_fraction"], rel=1e-12)
        assert own["lambda_max"] == pytest.approx(other["lambda_max"], rel=2e-4)
        for part, dimensions in (("base_index", 1), ("coordinates", 2)):
            np.testing.assert_array_equal(
                array(here / part, dimensions), array(there / part, dimensions)
            )
        for part in ("indices", "indptr"):
            np.testing.assert_array_equal(
                array(here / f"laplacian/{part}", 1), array(there / f"laplacian/{part}", 1)
            )
        for part in ("degree", "area"):
            np.testing.assert_allclose(array(here / part, 1), array(there / part, 1), rtol=1e-6)
        np.testing.assert_allclose(delta(here, own), delta(there, other), atol=5e-7)


def test_maps_are_what_unmasked_ones_say(masked_graphs: Path, built: Path, name: str) -> None:
    for number in range(len(recorded(built)["levels"]) - 1):
        for matrix in (f"pooling/{number}to{number + 1}", f"unpooling/{number + 1}to{number}"):
            found, expected = (sparse(v / matrix) for v in (built, masked_graphs / name / "v001"))
            assert found.shape == expected.shape
            np.testing.assert_array_equal(found.indptr, expected.indptr)
            np.testing.assert_array_equal(found.indices, expected.indices)
            np.testing.assert_allclose(found.data, expected.data, rtol=1e-6)
