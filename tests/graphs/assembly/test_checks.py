"""What a build says of the graphs that it made, against brute force and the full report."""

from pathlib import Path

import pytest

from cheblienet_graphs import GraphSpec, SpecError, build, inspect
from cheblienet_graphs.report.checks import sentences, summary
from cheblienet_graphs.search import connected

SPECS = {
    "plane": GraphSpec("se2", 24),
    "torus": GraphSpec("se2", 24, boundary="periodic", weights="matched", levels=1),
    "sphere": GraphSpec("so3", subdivisions=2, levels=2),
    "matched": GraphSpec("s2", subdivisions=3, weights="matched", neighbors=24, levels=1),
    "broken": GraphSpec("se2", 24, orientations=8, xi=1.5, eps=0.1, levels=1),
    "polar": GraphSpec("s2", bandlimit=16, levels=1),
    "random": GraphSpec("r2", points=400, neighbors=3),
    "voronoi": GraphSpec("s2", points=300, weights="voronoi", levels=1),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_build_agrees_with_the_report(tmp_path: Path, name: str) -> None:
    built = build(spec := SPECS[name], tmp_path / "g.zarr", device="cpu")
    levels = inspect(tmp_path / "g.zarr").levels
    assert [check.level for check in built.checks] == [level.level for level in levels]
    told, every = summary(spec, built.checks), sentences(spec, built.checks)
    text = "\n".join(every)
    for check, level in zip(built.checks, levels, strict=True):
        assert check.components == level.components
        assert check.least_components == level.components
        assert check.isolated == level.isolated
        if check.moments_consistent is None:
            assert level.consistency == "too coarse"
        elif level.components == 1:
            off = {"inconsistent", "kernel weights"}
            assert check.moments_consistent == (level.consistency not in off)
        assert (f"{level.components:,} components" in text) == (level.components > 1)
    assert ("all levels: one component" in text) == (
        len(levels) > 1 and all(level.components == 1 for level in levels)
    )
    # By the words of both: eigenvalues of kernels on scattered points stay off.
    if spec.sampling != "lattice" and levels[0].components == 1:
        for words in ("not consistent", "the paper's kernel weights"):
            said = words in " ".join(told)
            assert said == any(words in level.verdict for level in levels)
    if name == "plane":  # of the metric that the report measures
        along = [m.eps_squared for level in levels for m in level.effective_metric]
        expected = f"{min(along):.3g} .. {max(along):.3g}, asked {spec.eps**2:.2g}"
        assert f"the paper's kernel weights: eps^2 realized {expected}" in told[0]
    # What asks for nothing is left out of the summary, and nothing else.
    assert not any("one component" in line or "not counted" in line for line in told)
    spoiling = [line for line in every[1:] if "one component" not in line]
    assert told[-len(spoiling) :] == spoiling or not spoiling


def test_a_broken_lattice_is_not_built_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though it is too large to be looked at as a whole."""
    monkeypatch.setattr(connected, "ENTRIES", 2_000)
    built = build(SPECS["broken"], tmp_path / "g")
    moments, components = sentences(SPECS["broken"], built.checks)
    assert "not consistent with the metric: orientations are not connected" in moments
    assert components == "level 0: has at least 54 components; `clg inspect` counts them"


@pytest.mark.parametrize(
    ("manifold", "size", "said"),
    [
        ("r2", 51, "1 level, as half of 51x51 is not whole: pad images to 52x52"),
        ("r2", (64, 33), "half of 64x33 is not whole: pad images to 64x36"),
        ("r2", 52, ""),
        ("r2", 15, ""),
    ],
)
def test_odd_sides_say_why_there_is_one_level(
    tmp_path: Path, manifold: str, size: object, said: str
) -> None:
    spec = GraphSpec(manifold, size)
    built = build(spec, tmp_path / "g.zarr", device="cpu")
    for lines in (summary(spec, built.checks), sentences(spec, built.checks)):
        text = "\n".join(lines)
        assert said in text
        assert ("not whole" in text) == bool(said)


def test_what_odd_sides_are_told_has_levels() -> None:
    with pytest.raises(SpecError, match=r"as those of 52x52 or 48x48 do\. Got 2\."):
        GraphSpec("r2", 51, levels=2)
    assert [GraphSpec("r2", size, levels=3).levels for size in ("52x52", "48x48")] == [3, 3]
