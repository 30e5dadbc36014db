"""Nothing of a build is alive once it has ended, however it ended; matched weights, solved once."""

import gc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from builds import interrupted, manifest
from marks import slow_but

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.weights import matching

SPECS = {
    "matched lattice": GraphSpec("se2", 24, orientations=3, levels=1, weights="matched", eps=0.5),
    "sphere": GraphSpec("so3", subdivisions=2, orientations=4, levels=2, xi="auto"),
    "torus": GraphSpec("se2", points=60, orientations=4, boundary="periodic"),
    "eigenpairs": GraphSpec("se2", 12, orientations=4, levels=1, eigenpairs=5),
}

KINDS = {
    "Build",
    "Cloud",
    "Icosphere",
    "KDTree",
    "LatticeRows",
    "LevelPlan",
    "MutualNeighbors",
    "NeighborLists",
    "NeighborRule",
    "PrunedSearch",
    "Random",
    "RowBlock",
    "SearchedRows",
    "StagedLevel",
    "Staging",
    "StencilEngine",
}


@pytest.fixture
def alive(tmp_path: Path) -> Callable[[], set[str]]:
    """Kinds of objects of builds that came to be meanwhile, and files that are mapped still."""
    gc.collect()
    gc.freeze()  # what is there now is not looked through again, nor counted

    def kinds() -> set[str]:
        gc.collect()
        maps = Path("/proc/self/maps").read_text().splitlines()
        mapped = {line for line in maps if str(tmp_path) in line}  # deleted ones, too
        every = {type(thing) for thing in gc.get_objects()}
        own = {kind.__name__ for kind in every if not kind.__module__.startswith("random")}
        return mapped | (KINDS & own)

    return kinds


@pytest.mark.slow
@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize("how", [{}, {"block_rows": 100, "workers": 2}])
@pytest.mark.parametrize("name", SPECS)
def test_nothing_stays_after_a_build(
    tmp_path: Path, alive: Callable[[], set[str]], name: str, how: dict[str, object]
) -> None:
    build(SPECS[name], tmp_path / "g", device="cpu", **how)
    assert alive() == set()


@pytest.mark.parametrize("name", slow_but(["matched lattice"], SPECS))
def test_nothing_stays_after_an_interruption(
    tmp_path: Path, alive: Callable[[], set[str]], name: str
) -> None:
    for after in (1, 4, 9, 16, 25):
        how = {"block_rows": 100, "device": "cpu"}
        if interrupted(SPECS[name], tmp_path / "g", after, **how) is None:
            break
        assert alive() == set()


@pytest.mark.usefixtures("quick_workers")
@pytest.mark.parametrize("how", slow_but([{"resume": True}], [{"workers": 2}, {"resume": True}]))
def test_matched_weights_of_a_lattice_are_solved_once(
    tmp_path: Path, how: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who would solve for them again would not come to the same bits: each time others, here."""
    spec, solved, solve = SPECS["matched lattice"], list[float](), matching.matched

    def nudged(*arguments: object, **options: float) -> matching.Matching:
        solution = solve(*arguments, **options)
        solved.append(len(solved) * 1e-9)
        return replace(solution, values=solution.values * (1 + solved[-1]))

    monkeypatch.setattr(matching, "matched", nudged)
    build(spec, tmp_path / "a", block_rows=100)
    assert len(solved) == 1
    solved.clear()
    if "resume" in how:
        interrupted(spec, tmp_path / "b", 8, block_rows=100)
    result = build(spec, tmp_path / "b", block_rows=100, **how)
    assert result.resumed == ("resume" in how)
    assert len(solved) == 1 + result.resumed  # the second, another one, was not taken
    assert manifest(tmp_path / "a") == manifest(tmp_path / "b")
