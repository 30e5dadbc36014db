"""Matched weights of spheres as stored, of little drift, too; weights that no graph can have."""

from pathlib import Path

import numpy as np
import pytest
from moments import of_lattice, offsets, stored, weights_of
from scipy.spatial.transform import Rotation

from cheblienet_graphs import GraphSpec, SpecError, build
from cheblienet_graphs.store.reader import mapped_array


def moments_of(spec: GraphSpec, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """(V, 3) first and (V, 3, 3) second moments of a stored SO(3), by scipy's rotation vectors."""
    version, _ = stored(spec, folder, device="cpu")
    w = weights_of(version).tocoo()
    alpha, beta, gamma = mapped_array(version / "levels/0/coordinates").T
    area = mapped_array(version / "levels/0/area")
    elements = Rotation.from_euler("ZYZ", np.column_stack([gamma, beta, alpha]))
    row, column = w.coords
    between = elements[row].inv() * elements[column]
    half_turn = Rotation.from_rotvec([0, 0, np.pi])
    vectors = np.stack([r.as_rotvec() for r in (between, between * half_turn)])
    angle = abs(vectors[:, :, 2])
    share = (angle <= angle.min(axis=0) + 1e-9).astype(float)
    share = share / share.sum(axis=0) * w.data / area[row]
    x, y, z = np.moveaxis(vectors, 2, 0)
    c = np.stack([y, -x / spec.eps, z * spec.xi], axis=2)
    first, second = np.zeros((len(alpha), 3)), np.zeros((len(alpha), 3, 3))
    np.add.at(first, row, np.einsum("kn,kna->na", share, c))
    np.add.at(second, row, np.einsum("kn,kna,knb->nab", share, c, c))
    return first, second


SO3 = {
    "subdivisions": 2,
    "orientations": 6,
    "eps": 0.3,
    "xi": 0.5,
    "weights": "matched",
    "neighbors": 24,
    "levels": 1,
}


def test_second_moments_are_the_metrics_and_first_ones_small(tmp_path: Path) -> None:
    _, second = moments_of(GraphSpec("so3", **SO3), tmp_path)
    assert abs(second - 2 * np.eye(3)).max() < 1e-5  # stored in float32
    rms = []
    for drift in (None, 0.03, 0.001):
        first, second = moments_of(GraphSpec("so3", **SO3, drift=drift), tmp_path)
        assert abs(second - 2 * np.eye(3)).max() < 1e-5
        rms.append(float(np.sqrt((first**2).mean())))
    plain, little, least = rms
    assert plain > 10 * little > 50 * least


def test_masks_leave_weights_alone(tmp_path: Path) -> None:
    inside = np.random.default_rng(1).random(162) < 0.7
    fields = {"subdivisions": 2, "weights": "matched", "neighbors": 24, "levels": 1, "drift": 0.03}
    whole, masked = (
        weights_of(stored(GraphSpec("s2", **fields, **mask), tmp_path / name, device="cpu")[0])
        for name, mask in (("whole", {}), ("masked", {"mask": inside}))
    )
    part = whole[inside][:, inside]
    assert abs(part - masked).max() <= 1e-6 * whole.max()


def refused(spec: GraphSpec, path: Path, **options: object) -> str:
    """The message, of one line; nothing is published."""
    with pytest.raises(SpecError) as caught:
        build(spec, path / "g.zarr", name="g", **options)
    assert not list(path.rglob("v0*"))
    assert not list(path.rglob("laplacian"))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("options", [{"engine": "pruned"}, {"device": "cuda"}], ids=str)
def test_lattices_are_weighed_by_stencils_on_the_cpu(tmp_path: Path, options: dict) -> None:
    message = refused(GraphSpec("se2", 16, weights="matched"), tmp_path, **options)
    ((field, value),) = options.items()
    assert message.startswith(f"{field} must be auto or ")
    assert message.count("matched weights on a lattice") == message.count(repr(value)) == 1


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize("boundary", ["open", "periodic"])
def test_lattices_too_small_for_the_stencils(tmp_path: Path, boundary: str, weights: str) -> None:
    """The least side is the reach + 1 where open, twice the reach + 1 where periodic."""
    fields = {"weights": weights, "boundary": boundary, "levels": 1, "alpha": 1}
    large = GraphSpec("se2", 64, **fields)
    listed = offsets(of_lattice(large))
    reach = max(max(abs(dy), abs(dx)) for _, dy, dx, _ in listed)
    least = (2 * reach if boundary == "periodic" else reach) + 1
    build(GraphSpec("se2", least, **fields), tmp_path / "fits.zarr", name="fits")
    for size in ((least - 1, least), (least, least - 1)):
        message = refused(GraphSpec("se2", size, **fields), tmp_path / "small")
        assert f"levels must be such that every level has at least {least}x{least} pi" in message
        assert f"Got '{size[0]}x{size[1]}'" in message


@pytest.mark.parametrize("drift", [None, 1])
def test_spheres_that_cannot_be_matched_say_so(tmp_path: Path, drift: float | None) -> None:
    spec = GraphSpec("so3", points=100, weights="matched", neighbors=24, drift=drift)
    message = refused(spec, tmp_path)
    assert message.startswith("weights must be kernel here")
    assert "K = 24" in message
