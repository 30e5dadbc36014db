"""Graphs that converge to their metric are taken, others refused by smoothing and told of once.

The truth is the beam's share of spherical harmonics, and their symmetry on lattices.
"""

import copy
import warnings
from pathlib import Path
from typing import Any

import field_truth as truth
import numpy as np
import pytest
import torch
from refusing import refused
from stores import pyramid_of

from cheblienet_graphs import GraphSpec
from cheblienet_models import Diffusion, Pyramid, inpaint, smooth, smoothing_matrix

FWHM = 0.3
POINTS = np.random.default_rng(5).uniform((-80, 0), (80, 350), (150, 2))
TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "Voronoi": ("s2", {"nside": 4, "weights": "voronoi"}),
    "Voronoi, given": ("s2", {"coordinates": POINTS, "weights": "voronoi"}),
    "matched": ("s2", {"nside": 4, "weights": "matched", "neighbors": 24}),
    "kernel on a lattice": ("r2", {"size": 8}),
    "normalized on a lattice": (
        "r2",
        {"size": 8, "weights": "selling", "laplacian": "normalized"},
    ),
    "cubic": ("r3", {"size": 6}),
    "Selling": ("se2", {"size": 6, "orientations": 4, "weights": "selling"}),
}
REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "kernel": ("s2", {"nside": 4}, "`weights='voronoi'`"),
    "kernel, plane": ("r2", {"points": 60}, "`weights='voronoi'`"),
    "matched, random": (
        "s2",
        {"points": 150, "weights": "matched", "neighbors": 30},
        "`weights='voronoi'`",
    ),
    "normalized": (
        "s2",
        {"gaussian": "O6", "weights": "voronoi", "laplacian": "normalized"},
        "`laplacian='combinatorial'`",
    ),
    "oriented": ("se2", {"size": 6, "orientations": 4}, "`weights='selling'`"),
    "oriented, random": ("se2", {"points": 60, "orientations": 4}, "the points that `size` gives"),
    "normalized orientations": (
        "se2",
        {"size": 6, "orientations": 4, "weights": "selling", "laplacian": "normalized"},
        "`laplacian='combinatorial'`",
    ),
    "rotations": ("so3", {"subdivisions": 1, "orientations": 3}, "`weights='matched'`"),
    "long voxels": ("r3", {"size": 6, "spacing": (1, 1, 2)}, "`weights='selling'`"),
}


def built(folder: Path, manifold: str, fields: dict[str, Any]) -> Pyramid:
    given = fields if "coordinates" in fields else {"levels": 1, **fields}
    return pyramid_of(folder, GraphSpec(manifold, **given))


def zeros(pyramid: Pyramid) -> torch.Tensor:
    return torch.zeros(1, 1, pyramid.levels[0].num_vertices)


@pytest.mark.parametrize("name", TAKEN)
def test_families_that_converge_are_taken_without_a_word(tmp_path: Path, name: str) -> None:
    pyramid = built(tmp_path, *TAKEN[name])
    x = zeros(pyramid)
    assert torch.equal(smooth(pyramid, x, FWHM), x)
    x[..., 0] = torch.nan
    assert bool((inpaint(pyramid, x) == 0).all())
    Diffusion(1, pyramid.levels[0])


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_with_the_remedy(tmp_path: Path, name: str) -> None:
    manifold, fields, remedy = REFUSED[name]
    pyramid = built(tmp_path, manifold, fields)
    x = zeros(pyramid)
    says = f"level 0 has .* stay off .* build it with {remedy}, or give `allow_inconsistent=True`"
    for call, given in ((smooth, (pyramid, x)), (smoothing_matrix, (pyramid,))):
        refused(f"^{call.__name__} takes a graph that converges .*{says}", call, *given, FWHM)
    assert torch.equal(smooth(pyramid, x, FWHM, allow_inconsistent=True), x)


def test_what_is_refused_is_off_by_more_than_smoothing_changes(tmp_path: Path) -> None:
    """And what is taken is not: a harmonic of degree 3, which a beam nearly leaves."""
    weights: tuple[dict[str, Any], ...] = ({}, {"weights": "voronoi"})
    off, right = (
        built(tmp_path / str(number), "s2", {"nside": 16, **given})
        for number, given in enumerate(weights)
    )
    x, fwhm = truth.harmonic(off, 3), np.radians(5)
    exact = truth.response(3, fwhm) * x
    errors = [
        np.abs(smooth(graph, truth.signal(x), fwhm, allow_inconsistent=True).numpy() - exact).max()
        for graph in (off, right)
    ]
    changes = np.abs(exact - x).max()
    assert errors[0] > 0.5 * changes
    assert errors[1] < 0.05 * changes


@pytest.mark.parametrize("use", ["Diffusion", "diffuse", "inpaint"])
def test_what_runs_as_before_warns_once(tmp_path: Path, use: str) -> None:
    pyramid = built(tmp_path, "s2", {"nside": 4})
    graph = pyramid.levels[0]
    x = torch.ones(1, 1, graph.num_vertices)
    x[..., 5] = torch.nan
    calls = {
        "Diffusion": lambda: Diffusion(1, graph),
        "diffuse": lambda: graph.diffuse(x, 0.1),
        "inpaint": lambda: inpaint(pyramid, x),
    }
    with pytest.warns(UserWarning, match=f"^{use} is off by some percent: .*voronoi") as told:
        calls[use]()
    assert [Path(warning.filename).name for warning in told] == [Path(__file__).name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in calls.values():
            call()


def test_checkpoints_of_diffusion_load_as_before(tmp_path: Path) -> None:
    pyramid = built(tmp_path, "s2", {"nside": 4})
    graph = pyramid.levels[0]
    x = torch.randn(1, 2, graph.num_vertices)
    with pytest.warns(UserWarning, match="off by some percent"):
        trained = Diffusion(2, graph)
    state = {"log_times": torch.tensor([-2.0, -1.0])}
    with pytest.warns(UserWarning, match="The checkpoint is of an earlier version"):
        trained.load_state_dict(state)
    assert list(trained.state_dict()) == ["log_times", "_extra_state"]
    assert torch.equal(copy.deepcopy(trained)(x), trained(x))
