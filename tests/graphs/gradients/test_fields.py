"""Stored gradients against derivatives by matrix exponentials, and their symmetries.

It tests `lattice`, `searched` and `source`, too.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from derivatives import built, errors, wide
from marks import slow_but
from masks import disc

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.store import layout

TURNED = {"period": "2pi"}
SERIES = {  # the least order, and two graphs, the second one with half the spacing
    "periodic plane": (1.9, [("r2", {"size": n, "boundary": "periodic"}) for n in (32, 64)]),
    "disc": (1.9, [("r2", {"mask": disc(n)}) for n in (24, 48)]),
    "open space": (1.9, [("r3", {"size": n}) for n in (24, 48)]),
    "arrows": (1.9, [("se2", {"size": n, "orientations": n // 2} | TURNED) for n in (16, 32)]),
    "lines": (1.9, [("se2", {"size": n, "orientations": n // 2}) for n in (16, 32)]),
    "icosphere": (1.9, [("s2", {"subdivisions": n}) for n in (2, 3)]),
    "random sphere": (1.7, [("s2", {"points": n}) for n in (1000, 4000)]),
    "region": (1.7, [("s2", {"nside": n, "region": "-30,-40,60,30"}) for n in (8, 16)]),
    "random points": (1.7, [("se2", {"points": n * n, "orientations": n // 2}) for n in (14, 28)]),
    "rotations": (
        1.8,
        [("so3", {"subdivisions": n + 1, "orientations": 6 * n} | TURNED) for n in (1, 2)],
    ),
    "rotations of lines": (
        1.8,
        [("so3", {"nside": n, "orientations": 5 * n // 4}) for n in (4, 8)],
    ),
}


@pytest.mark.parametrize("name", slow_but(("disc", "arrows"), SERIES))
def test_they_are_of_second_order(tmp_path: Path, name: str) -> None:
    """Errors shrink with the square of the spacing, halved; and no entry is rounding."""
    order, series = SERIES[name]
    stored = [
        built(GraphSpec(manifold, levels=1, gradients=True, **how), tmp_path / str(n))[0]
        for n, (manifold, how) in enumerate(series)
    ]
    coarse, fine = map(errors, stored)
    assert (fine < coarse * 2**-order).all(), np.log2(coarse / fine)
    for matrix in stored[1].gradients.values():  # or the pattern would depend on the processor
        sizes = abs(matrix).tocsr()
        largest = sizes.max(axis=1).toarray().ravel()
        assert (sizes.data > 1e-8 * np.repeat(largest, np.diff(sizes.indptr))).all()


def test_linear_functions_are_exact_inside_a_ragged_mask(tmp_path: Path) -> None:
    """Wherever neighbors lie in two directions; along the only one elsewhere."""
    mask = np.random.default_rng(1).random((24, 24)) < 0.6
    (arrays,) = built(GraphSpec("r2", mask=mask, levels=1, gradients=True), tmp_path)
    slopes = np.stack([matrix @ arrays.coordinates for matrix in arrays.gradients.values()], axis=1)
    exact = abs(slopes - np.eye(2)).max(axis=(1, 2)) < 1e-5
    assert exact.mean() > 0.95
    squares = slopes @ slopes
    np.testing.assert_allclose(squares, slopes, atol=1e-5)  # projections on what neighbors span
    constants = [matrix @ np.ones(len(slopes)) for matrix in arrays.gradients.values()]
    np.testing.assert_allclose(constants, 0, atol=1e-4)


@pytest.mark.parametrize("latitude", [0, 90])
def test_rows_of_nothing_but_rounding_are_empty(tmp_path: Path, latitude: int) -> None:
    """On a great circle there is nothing to differ across it."""
    angles = np.arange(36) * 10.0
    points = {0: [0 * angles, angles], 90: [np.linspace(-80, 80, 36), 0 * angles + 30]}[latitude]
    spec = GraphSpec("s2", coordinates=np.stack(points, axis=1), gradients=True)
    (arrays,) = built(spec, tmp_path)
    south, east = arrays.gradients.values()
    assert (east if latitude else south).nnz == 0
    assert (south if latitude else east).nnz > 0


def test_they_are_antisymmetric_but_at_sides(tmp_path: Path) -> None:
    how = {"size": 12, "orientations": 6, "levels": 1, "gradients": True}
    (whole,) = built(GraphSpec("se2", boundary="periodic", **TURNED, **how), tmp_path / "torus")
    assert whole.of_level.gradients.symmetric_nnz == 0
    assert all((wide(of) == -wide(of).T).all() for of in whole.gradients.values())
    (open_,) = built(GraphSpec("se2", **how), tmp_path / "open")
    inner = np.zeros((6, 12, 12), bool)
    inner[:, 3:-3, 3:-3] = True
    stored = np.split(wide(open_.stacked_gradients(layout.SYMMETRIC).scipy()), 3)
    for (name, matrix), sums in zip(open_.gradients.items(), stored, strict=True):
        both = wide(matrix)
        np.testing.assert_allclose(sums, both + both.T, rtol=1e-7)
        assert not sums[inner.ravel()].any()
        assert sums.any() == (name != "rotation")


SIGNS = {"flip": (1, -1, -1), "reflection": (1, -1, -1)}


@pytest.mark.parametrize(
    "how",
    [
        {"manifold": "se2", "size": 12, "orientations": 8, "boundary": "periodic"},
        {"manifold": "se2", "size": 9, "orientations": 4},
        {"manifold": "se2", "mask": disc(13), "orientations": 8},
        {"manifold": "so3", "subdivisions": 1, "orientations": 10},
        {"manifold": "so3", "nside": 2, "orientations": 8},
    ],
    ids=lambda how: "-".join(how),
)
def test_they_commute_with_motions_and_change_sign_in_mirrors(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    (arrays,) = built(GraphSpec(**how, **TURNED, gradients=True, levels=1), tmp_path)
    exact = {name: p for name, p in arrays.sampling.symmetries() if "approximate" not in name}
    for name, permutation in exact.items():
        signs = SIGNS.get(name.split("_")[0], (1, 1, 1))
        for sign, matrix in zip(signs, map(wide, arrays.gradients.values()), strict=True):
            moved = matrix[np.ix_(permutation, permutation)]
            np.testing.assert_allclose(moved, sign * matrix, atol=2e-7 * abs(matrix).max())
    assert {name.split("_")[0] for name in exact} & {"flip", "reflection"}
    assert len(exact) >= 3


AWAY = [
    {"manifold": "so3", "subdivisions": 1, "orientations": 3},
    {"manifold": "so3", "bandlimit": 4, "orientations": 4},
    {"manifold": "so3", "gaussian": "F4", "orientations": 4, **TURNED},
    {"manifold": "so3", "bandlimit": 4, "orientations": 4, **TURNED},
    {"manifold": "s2", "bandlimit": 2},
    {"manifold": "s2", "nside": 1},
]


@pytest.mark.parametrize("how", AWAY, ids=lambda how: "-".join(map(str, how.values())))
def test_neighbors_half_a_period_away_break_no_symmetry(
    tmp_path: Path, how: dict[str, Any]
) -> None:
    """Such neighbors have two logarithms, of which rounding would choose one.

    Modulo pi, and on the sphere, symmetries turn frames: lengths of gradients are what stays.
    """
    (arrays,) = built(GraphSpec(**how, gradients=True, levels=1), tmp_path)
    matrices = [wide(matrix) for matrix in arrays.gradients.values()]
    values = np.random.default_rng(0).normal(size=(len(arrays.coordinates), 8))
    lengths = sum((matrix @ values) ** 2 for matrix in matrices[:2])
    for name, permutation in arrays.sampling.symmetries():
        if "approximate" in name:
            continue
        moved = sum((matrix @ values[permutation]) ** 2 for matrix in matrices[:2])
        np.testing.assert_allclose(moved, lengths[permutation], atol=1e-5 * lengths.max())
    constants = [matrix @ np.ones(len(values)) for matrix in matrices]
    np.testing.assert_allclose(constants, 0, atol=1e-4)
