"""The paper's experiments as recipes, and recipes from files."""

from pathlib import Path

import pytest
from refusing import refused

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.errors import InputError
from cheblienet_graphs.recipes import recipe, recipes

PAPER = {
    "mnist": [784],
    "cifar10": [1024, 256, 64],
    "stl10": [9216, 2304, 576],
    "climatenet": [10242, 2562, 642, 162, 42, 12],
}
"""Points of each level."""


def test_the_papers_vertices_and_metric() -> None:
    known = {shipped.name: shipped.spec for shipped in recipes()}
    assert known.keys() == {f"{name}{kind}" for name in PAPER for kind in ("", "-isotropic")}
    for name, spec in known.items():
        points = PAPER[name.removesuffix("-isotropic")]
        assert [n // spec.orientations for n in spec.vertices] == points
        assert spec.geometry.oriented == (name in PAPER)
        neighbors, orientations, squared = (16, 6, 0.1) if spec.geometry.oriented else (8, 1, 1)
        assert (spec.neighbors, spec.orientations) == (neighbors, orientations)
        assert spec.eps**2 == pytest.approx(squared)
    assert recipe("climatenet").spec.in_plane_fraction == 0.4


R2 = "[graph]\nmanifold = 'r2'\nsize = 8"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[graph", "is not TOML"),
        *(
            (text, r"must have one table \[graph\] .* a title, a text, at most\. Got")
            for text in ("", "graph = 3", "[[graph]]", f"title = 1\n{R2}", f"color = 1\n{R2}")
        ),
        ("a = " + "[" * 9999, "is not TOML"),
        ("# " + "x" * 200_000, "at most 100000 bytes"),
        ("[graph]\nsize = 8", "required positional argument: 'manifold"),
        (f"{R2}\nneighbours = 3", r"no argument 'neighbours'; did you mean neighbors\?"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    refused(f"bad.toml.*{complaint}", recipe, file, error=InputError)


def test_unknown_recipes_and_files() -> None:
    for name, complaint in (
        ("imagenet", r"no recipe 'imagenet'\. There are cifar10, "),
        ("./nothing.toml", "can't be read"),
        ("./null\0.toml", "can't be read"),
        *((name, "must be a file") for name in ("/tmp/..", "/dev/zero")),
    ):
        refused(complaint, recipe, name, error=InputError)


def test_paths_are_read_as_others_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In files of the same form as those that are shipped."""
    (tmp_path / "MINE.TOML").write_text(f"title = 'Mine'\n{R2}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("MINE.TOML", "~/MINE.TOML"):
        mine = recipe(name)
        assert (mine.name, mine.title, mine.spec) == ("MINE", "Mine", GraphSpec("r2", 8))
