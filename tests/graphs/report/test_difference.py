"""What differs between two graphs, against sets of edges from dense matrices."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from cheblienet_graphs import GraphSpec, SpecError, UnknownGraphError, build, compare
from cheblienet_graphs.report.difference_text import difference_text
from cheblienet_graphs.report.shared_edges import shared_edges
from cheblienet_graphs.store.reader import edge_weights, mapped_weights

KERNEL = GraphSpec("se2", 8, orientations=4, levels=2)
RNG = np.random.default_rng(5)
PLACES = RNG.uniform(size=(30, 2))
AREAS = RNG.uniform(0.5, 2, size=(30, 1))

SPECS = {
    "kernel": KERNEL,
    "selling": GraphSpec("se2", 8, orientations=4, levels=1, weights="selling"),
    "torus": GraphSpec("se2", 8, orientations=4, levels=2, boundary="periodic"),
    "wider": GraphSpec("se2", 8, orientations=4, levels=2, bandwidth=0.4),
    "turned": GraphSpec("se2", 8, orientations=5, levels=2),
    "plane": GraphSpec("r2", "16x16", levels=1),
    "more": GraphSpec("r2", "16x16", levels=1, neighbors=9),
    "random": GraphSpec("r2", points=256, levels=1),
    "own": GraphSpec("r2", coordinates=PLACES, domain=(0, 0, 1, 1), laplacian="combinatorial"),
    "areas": GraphSpec(
        "r2",
        coordinates=np.hstack([PLACES, AREAS]),
        domain=(0, 0, 1, 1),
        laplacian="combinatorial",
    ),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("difference") / "g.zarr"
    for name, spec in SPECS.items():
        build(spec, path, name=name, device="cpu")
    build(KERNEL, path, name="kernel", force=True)
    return path


def weights_of(store: Path, name: str, level: int = 0) -> dict[tuple[int, int], float]:
    """The edges (i, j), i < j, with their weights."""
    dense = edge_weights(store / name / "v001", level).toarray()
    return {(i, j): dense[i, j] for i, j in np.argwhere(np.triu(dense)).tolist()}


def test_equal_builds_are_identical(store: Path) -> None:
    found = compare(store, "kernel@v001", "kernel@v002")
    assert found.identical
    assert found.levels == ()
    text = difference_text(found)
    assert text == (
        "kernel@v001 and kernel@v002 are identical: the same specification, the same digests of "
        "all files"
    )


def test_the_same_files_of_another_specification(store: Path) -> None:
    """Whole shells have 8 neighbours, whether 8 or 9 are allowed."""
    found = compare(store, "plane", "more")
    assert not found.identical
    assert found.same_files
    assert found.specification == {"neighbors": (8, 9)}
    assert "all files have the same digests" in difference_text(found)


@pytest.mark.parametrize("other", ["selling", "torus", "wider"])
def test_edges_and_weights_are_those_of_dense_matrices(store: Path, other: str) -> None:
    found = compare(store, "kernel", other, eigenvalues=0)
    for level in found.levels:
        a, b = (weights_of(store, name, level.level) for name in ("kernel", other))
        both = a.keys() & b.keys()
        assert level.not_compared is None
        assert level.edges == (len(a), len(b))
        shared = level.shared
        assert (shared.both, shared.first, shared.second) == (
            len(both),
            len(a.keys() - both),
            len(b.keys() - both),
        )
        assert shared.share == pytest.approx(len(both) / len(a.keys() | b.keys()))
        relative = [abs(a[edge] - b[edge]) / max(a[edge], b[edge]) for edge in both]
        assert shared.largest == pytest.approx(max(relative))
        assert shared.median == pytest.approx(np.median(relative))
        assert shared.ratio == pytest.approx(np.median([b[edge] / a[edge] for edge in both]))
        assert level.areas == 0.0
        assert level.eigenvalues == ([], [])


@pytest.mark.parametrize("entries", [30, 10**6])
def test_blocks_change_nothing(store: Path, entries: int) -> None:
    pair = [mapped_weights(store / name / "v001", 0) for name in ("kernel", "selling")]
    whole = shared_edges(*pair)
    assert shared_edges(*pair, entries=entries) == whole
    assert shared_edges(*pair, entries=entries, at_once=0) == whole


def test_areas(store: Path) -> None:
    (level,) = compare(store, "own", "areas", eigenvalues=0).levels
    given = AREAS.ravel() / AREAS.mean()
    (path,) = (store / "own/v001/levels/0/area/c").rglob("0")
    cells = np.fromfile(path, np.float32).astype(float)
    worst = (abs(given - cells) / np.maximum(given, cells)).max()
    assert level.areas == pytest.approx(worst, rel=1e-5)


@pytest.mark.parametrize(
    ("other", "why"),
    [("plane", "other manifolds"), ("turned", "other numbers of vertices")],
)
def test_other_vertices_are_not_compared(store: Path, other: str, why: str) -> None:
    found = compare(store, "kernel", other, eigenvalues=2)
    assert {level.not_compared for level in found.levels} == {why}
    assert {level.shared for level in found.levels} == {None}
    text = difference_text(found)
    assert f"not compared: {why}" in text
    if other == "plane":
        assert "a alone has level 1" in text


def test_vertices_at_other_places(store: Path) -> None:
    (level,) = compare(store, "plane", "random", eigenvalues=0).levels
    assert level.not_compared == "vertices at other places"


def test_eigenvalues_side_by_side(store: Path) -> None:
    """Those of the operator, by numpy from dense Laplacians."""
    found = compare(store, "own", "areas", eigenvalues=5)
    for name, values in zip(("own", "areas"), found.levels[0].eigenvalues, strict=True):
        weights = edge_weights(store / name / "v001", 0).toarray()
        (path,) = (store / name / "v001/levels/0/area/c").rglob("0")
        root = np.sqrt(np.fromfile(path, np.float32).astype(float))
        delta = (np.diag(weights.sum(axis=0)) - weights) / np.outer(root, root)
        scale = json.loads((store / name / "v001/zarr.json").read_text())
        scale = scale["attributes"]["clg"]["levels"][0]["eigenvalue_scale"]
        exact = np.linalg.eigvalsh(delta)[:5] * scale
        assert values == pytest.approx(exact, abs=1e-4 * exact[-1])
    rows = difference_text(found).split("\n\n")[-1].splitlines()
    a, b = (values[1] for values in found.levels[0].eigenvalues)
    assert rows[2].split() == [f"{a:.6g}", f"{b:.6g}", f"{b / a - 1:+.2%}".removesuffix("%"), "%"]


def test_eigenvalues_of_delta_where_a_scale_is_unknown(store: Path) -> None:
    """No pixel has all its neighbours inside, so nothing tells the scale."""
    mask = np.zeros((8, 8), bool)
    mask[3, 4:6] = True
    build(GraphSpec("r2", mask=mask, levels=1), store, name="pair")
    (level,) = compare(store, "pair", "plane", eigenvalues=2).levels
    assert not level.of_operator
    assert level.eigenvalues[0] == pytest.approx([0, 2], abs=1e-6)  # of two vertices, normalized
    assert level.eigenvalues[1][1] < 1
    text = difference_text(compare(store, "pair", "plane", eigenvalues=2))
    assert "level 0: eigenvalues of Delta" in text


def test_fields_of_the_specification(store: Path) -> None:
    found = compare(store, "kernel", "selling", eigenvalues=0)
    assert found.specification == {
        "weights": ("kernel", "selling"),
        "neighbors": (16, 8),
        "kernel": ("gaussian", None),
        "bandwidth": (0.2, None),
        "laplacian": ("normalized", "combinatorial"),
        "levels": (2, 1),
        "boundary_correction": (None, True),
    }
    lines = difference_text(found).splitlines()
    assert lines[:2] == ["a: kernel@v002", "b: selling@v001"]
    assert ["bandwidth", "0.2", "none"] in [line.split() for line in lines]
    assert max(map(len, lines)) <= 100
    assert json.loads(json.dumps(found.to_json(), allow_nan=False))["identical"] is False


def test_another_store(store: Path, tmp_path: Path) -> None:
    build(KERNEL, tmp_path / "other.zarr", name="mine")
    found = compare(store, "kernel@v001", "mine", other_store=tmp_path / "other.zarr")
    assert found.identical
    assert found.names == ("kernel@v001", "mine@v001")


def test_refusals(store: Path) -> None:
    with pytest.raises(UnknownGraphError, match="nothing"):
        compare(store, "kernel", "nothing")
    with pytest.raises(UnknownGraphError, match="no store"):
        compare(store, "kernel", "kernel", other_store=store / "none")
    for count in (-1, 1001, math.nan, "x"):
        with pytest.raises(SpecError, match="eigenvalues must be an integer"):
            compare(store, "kernel", "wider", eigenvalues=count)
