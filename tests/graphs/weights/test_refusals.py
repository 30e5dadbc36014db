"""Weights that a graph can't have: refusals of a build; those of a specification are in spec."""

from pathlib import Path

import pytest
from moments import of_lattice, offsets

from cheblienet_graphs import GraphSpec, SpecError, build


def refused(spec: GraphSpec, path: Path, **options: object) -> str:
    """The message, of one line; nothing is published."""
    with pytest.raises(SpecError) as caught:
        build(spec, path / "g.zarr", name="g", **options)
    assert not list(path.rglob("v0*"))
    assert not list(path.rglob("laplacian"))
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("weights", ["selling", "matched"])
@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"engine": "pruned"}, "engine"),
        ({"engine": "keops"}, "engine"),
        ({"device": "cuda"}, "device"),
    ],
)
def test_lattices_are_weighed_by_stencils_on_the_cpu(
    tmp_path: Path, weights: str, options: dict, field: str
) -> None:
    message = refused(GraphSpec("se2", 16, weights=weights), tmp_path, **options)
    assert message.startswith(f"{field} must be auto or ")
    assert f"{weights} weights on a lattice" in message
    assert repr(options[field]) in message


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
        assert message.startswith("levels must be such that every level has at least ")
        assert f"{least}x{least} pixels" in message
        assert f"Got '{size[0]}x{size[1]}'" in message


def test_coarser_levels_may_be_too_small(tmp_path: Path) -> None:
    spec = GraphSpec("se2", 32, weights="selling", levels=4, eps=0.01)
    message = refused(spec, tmp_path)
    assert message.startswith("levels must be such that every level has at least ")
    assert "Got '" in message


def test_spheres_that_cannot_be_matched_say_so(tmp_path: Path) -> None:
    spec = GraphSpec("so3", points=100, weights="matched", neighbors=24)
    message = refused(spec, tmp_path)
    assert message.startswith("weights must be kernel here")
    assert "K = 24" in message
    assert "Got 'matched'" in message
