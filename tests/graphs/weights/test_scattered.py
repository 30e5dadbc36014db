"""Matched weights of scattered points: masks, and weights that no graph can have."""

from pathlib import Path

import numpy as np
import pytest
from moments import of_lattice, offsets, stored, weights_of

from cheblienet_graphs import GraphSpec, SpecError, build


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
