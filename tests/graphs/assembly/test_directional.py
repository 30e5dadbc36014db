"""Stored directional Laplacians against dense algebra and against plane waves."""

from pathlib import Path

import numpy as np
import pytest
from masks import awkward
from sealing import reseal_array

from cheblienet_graphs import GraphSpec, SpecError, build, verify
from cheblienet_graphs.samplings.lattice import Lattice
from cheblienet_graphs.samplings.sampling import SampledManifold
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import read_facts
from cheblienet_graphs.store.reader import LevelFolder
from cheblienet_graphs.weights.directional import Directional
from cheblienet_models import StoreError as ModelsStoreError
from cheblienet_models import open_store

DELTA = 0.05
BUILDS = {
    "open": GraphSpec("se2", "16x12", orientations=4, levels=2, directional=DELTA),
    "torus": GraphSpec("se2", 14, orientations=3, boundary="periodic", directional=DELTA, levels=1),
    "masked torus": GraphSpec(
        "se2", mask=awkward(16), orientations=3, boundary="periodic", weights="selling",
        directional=0.2, levels=1,
    ),
}  # fmt: skip


def expected(spec: GraphSpec, level: int, direction: str, places: np.ndarray) -> np.ndarray:
    """D - W, dense, of the points inside, edge by edge."""
    lattice = spec.full_sampling(level)
    assert isinstance(lattice, Lattice)
    sampled = SampledManifold(lattice, spec.geometry, spec.metric(level))
    weights = Directional(direction, spec.directional).on_lattice(sampled)
    height, width = lattice.shape
    number = {int(place): n for n, place in enumerate(places)}
    size = spec.orientations * len(number)
    dense = np.zeros((size, size))
    for k, (stencil, values) in enumerate(zip(weights.stencils, weights.values, strict=True)):
        for place, n in number.items():
            y, x = divmod(place, width)
            for j, (dy, dx), w in zip(stencil.orientation, stencil.offsets, values, strict=True):
                v, u = y + dy, x + dx
                if spec.boundary == "periodic":
                    v, u = v % height, u % width
                elif not (0 <= v < height and 0 <= u < width):
                    continue
                other = number.get(v * width + u)
                if other is not None:
                    dense[k * len(number) + n, j * len(number) + other] -= w
    return dense - np.diag(dense.sum(axis=1))


@pytest.mark.parametrize("name", BUILDS)
def test_stored_matrices_are_those_of_the_stencils(tmp_path: Path, name: str) -> None:
    spec = BUILDS[name]
    built = build(spec, tmp_path / "g")
    assert verify(tmp_path / "g") == []
    version = tmp_path / "g" / built.name / built.version
    for level in range(spec.levels):
        facts = built.levels[level]
        stored_level = LevelFolder.published(Folder(version), read_facts(Folder(version)), level)
        assert list(facts.directional) == ["forward", "sideways", "rotation"]
        for direction in facts.directional:
            matrix = stored_level.rescaled(f"directional/{direction}")
            every = np.arange(spec.full_points(level))
            places = every if stored_level.base_index is None else stored_level.base_index
            delta = expected(spec, level, direction, places)
            of = facts.directional[direction]
            stored = matrix.toarray().astype(float)
            np.testing.assert_array_equal(stored, stored.T)
            rebuilt = (stored + np.eye(len(stored))) * of.lambda_max / 2
            np.testing.assert_allclose(rebuilt, delta, atol=3e-7 * of.lambda_max)
            pattern = (delta != 0) | np.eye(len(delta), dtype=bool)
            mask = np.zeros(pattern.shape, bool)
            mask[np.repeat(np.arange(len(mask)), np.diff(matrix.indptr)), matrix.indices] = True
            np.testing.assert_array_equal(mask, pattern)
            assert of.nnz == matrix.nnz == 2 * of.edges + len(delta)
            largest = np.linalg.eigvalsh(delta)[-1]
            assert largest <= of.lambda_max * (1 + 1e-6)
            assert of.lambda_max <= largest * (1 + 1e-4)


def test_a_mask_of_one_pixel_has_no_forward_edges(tmp_path: Path) -> None:
    mask = np.zeros((8, 8), bool)
    mask[3, 3] = True
    spec = GraphSpec("se2", mask=mask, orientations=4, levels=1, directional=DELTA)
    with pytest.raises(SpecError, match="level 0 has forward edges inside"):
        build(spec, tmp_path / "g")
    assert list(tmp_path.iterdir()) == []


def test_wrong_values_are_noticed(tmp_path: Path) -> None:
    built = build(GraphSpec("se2", 8, orientations=4, levels=1, directional=DELTA), tmp_path / "g")
    version, part = tmp_path / "g" / built.name / "v001", "levels/0/directional/rotation"
    reseal_array(version, f"{part}/data", lambda values: values.fill(0.1))
    (fault,) = verify(tmp_path / "g")
    assert fault.where.endswith(part)
    with pytest.raises(ModelsStoreError, match="rotation"):
        open_store(tmp_path / "g", verify=True)[built.name]
