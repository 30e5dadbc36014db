"""Symmetries of stored graphs against those that the building side knows."""

from pathlib import Path

import pytest
import torch
from symmetric import PLANE, SPECS, SQUARE, TRANSLATIONS

from cheblienet_models import ChebConv, open_store
from cheblienet_models.symmetries import symmetries
from cheblienet_models.symmetries.search import _motions
from cheblienet_models.testing import assert_equivariant

EXPECTED = {
    "r2": PLANE,
    "square": SQUARE,
    "open": SQUARE,
    "odd": PLANE,
    "arrows": SQUARE | TRANSLATIONS,
    "even-arrows": PLANE,
    "odd-arrows": {"flip"} | TRANSLATIONS,
    "torus": SQUARE | TRANSLATIONS,
    "selling": SQUARE | TRANSLATIONS,
    "matched": SQUARE,
}


@pytest.mark.parametrize("name", [n for n in SPECS if "random" not in n])
def test_symmetries_are_those_of_the_sampling(symmetric_graphs: Path, name: str) -> None:
    """Level by level, those that the building side knows, with the same permutations."""
    pyramid, spec = open_store(symmetric_graphs)[name], SPECS[name]
    for level in range(spec.levels):
        exact = dict(spec.full_sampling(level).symmetries())
        by_name = symmetries(pyramid, [level])
        if name in EXPECTED:
            assert set(by_name) == EXPECTED[name]
        else:
            assert len(by_name) >= 3
        for symmetry, motions in by_name.items():
            points = len(motions[level].base)
            assert torch.equal(motions[level].vertices[:points] % points, motions[level].base)
            if symmetry in exact:
                assert motions[level].vertices.tolist() == exact[symmetry].tolist()
        assert {s for s in exact if "approximate" not in s} <= set(by_name)
        if name == "s2":
            assert {"rotation_120", "rotation_72"} <= set(by_name)


def test_isometries_that_are_inexact_do_not_count(
    symmetric_graphs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The icosahedron's turn by 120 degrees maps its points exactly, but not their orientations."""
    third = torch.tensor([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=torch.float64)
    tried = [("rotation_120", third), ("rotation_240", third @ third)]
    monkeypatch.setattr("cheblienet_models.symmetries.motions._isometries", lambda _: tried)
    opened = open_store(symmetric_graphs)
    by_name = {name: set(dict(_motions(opened[name], 0, 0))) for name in ("icosahedral", "s2")}
    assert by_name == {"icosahedral": set(), "s2": {"rotation_120", "rotation_240"}}
    assert not set(_motions(opened["random-sphere"], 0, 0))
    assert not set(_motions(opened["s2-equiangular"], 0, 0))


def test_a_changed_laplacian_has_fewer_symmetries(symmetric_graphs: Path) -> None:
    graph = (pyramid := open_store(symmetric_graphs)["open"]).levels[0]
    assert set(symmetries(pyramid, [0, 1])) == SQUARE
    corner = graph.row_pointers[1] - 1
    graph.values[corner] += 1e-3
    assert symmetries(pyramid, [0, 1]) == {}
    assert set(symmetries(pyramid, [1])) == SQUARE
    assert assert_equivariant(ChebConv(1, 1, 2, pyramid.levels[1]), pyramid, level=1)
