"""The paper's experiments as recipes, and recipes from files."""

import inspect
from pathlib import Path

import pytest

from cheblienet_graphs import CheblienetError, GraphSpec
from cheblienet_graphs.errors import RecipeError
from cheblienet_graphs.recipes import recipe, recipes

VERTICES = {
    "mnist": [4704],
    "mnist-isotropic": [784],
    "cifar10": [6144, 1536, 384],
    "cifar10-isotropic": [1024, 256, 64],
    "stl10": [55296, 13824, 3456],
    "stl10-isotropic": [9216, 2304, 576],
    "climatenet": [61452, 15372, 3852, 972, 252, 72],
    "climatenet-isotropic": [10242, 2562, 642, 162, 42, 12],
}


def test_the_papers_vertex_counts() -> None:
    found = {
        r.name: [r.spec.orientations * r.spec.base_points(n) for n in range(r.spec.levels)]
        for r in recipes()
    }
    assert found == VERTICES


def test_the_papers_metric() -> None:
    for found in recipes():
        if found.spec.geometry.oriented:
            assert found.spec.eps**2 == pytest.approx(0.1)
            assert (found.spec.neighbors, found.spec.orientations) == (16, 6)
        else:
            assert (found.spec.neighbors, found.spec.eps) == (8, 1)
    assert recipe("climatenet").spec.in_plane_fraction == 0.4


def test_a_file_of_the_same_form(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "Mine"\n[graph]\nmanifold = "so3"\nnside = 4\n')
    found = recipe(file)
    assert (found.name, found.title, found.spec.num_vertices) == ("mine", "Mine", 192 * 6)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[graph", "is not TOML"),
        ("", r"must have one table \[graph\]"),
        ("graph = 3", r"must have one table \[graph\]"),
        ("[[graph]]", r"must have one table \[graph\]"),
        ("title = 1\n[graph]\nmanifold = 'r2'\nsize = 8", "text for its title. Got 1"),
        ("color = 1\n[graph]\nmanifold = 'r2'\nsize = 8", "Got .'color'."),
        ("[graph]\nmanifold = 'r2'\nsize = 8\nlambda_max = [2]", "lambda_max must be"),
        ("a = " + "[" * 9999, "is not TOML"),
        ("# " + "x" * 200_000, "at most 100000 bytes"),
        ("[graph]\nsize = 8", "must name a manifold"),
        ("[graph]\nmanifold = 'r2'\nsize = 8\nneighbours = 3", "unknown fields: neighbours"),
        ("[graph]\nmanifold = 'r2'\nsize = 8\neps = 0.1", "eps must be 1 on r2"),
        ("[graph]\nmanifold = 'r2'\nsize = {a = 1}", "size must be"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(CheblienetError, match=complaint) as caught:
        recipe(file)
    assert "bad.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


SIZES = {"r2": "size", "se2": "size", "s2": "nside", "so3": "nside", "r3": "size", "r3s2": "size"}
NO_VALUES = ["9" * 5000, "[]", "[[1], [2]]", '["a"]', "{a = 1}", "[{a = 1}]", "1979-05-27", "nan"]


@pytest.mark.parametrize("manifold", SIZES)
@pytest.mark.parametrize("value", NO_VALUES, ids=lambda value: value[:9])
def test_values_that_no_field_has(tmp_path: Path, manifold: str, value: str) -> None:
    for field in inspect.signature(GraphSpec).parameters:
        given = {"manifold": f'"{manifold}"', SIZES[manifold]: "4"} | {field: value}
        lines = "\n".join(f"{key} = {text}" for key, text in given.items())
        (tmp_path / "bad.toml").write_text(f"[graph]\n{lines}\n")
        with pytest.raises(RecipeError, match=r"bad\.toml") as caught:
            recipe(tmp_path / "bad.toml")
        assert len(str(caught.value)) < 600


def test_unknown_recipes_and_files() -> None:
    with pytest.raises(CheblienetError, match=r"no recipe 'imagenet'\. There are cifar10, "):
        recipe("imagenet")
    with pytest.raises(CheblienetError, match="can't be read"):
        recipe("./nothing.toml")
    with pytest.raises(CheblienetError, match="must be a file"):
        recipe("/tmp/..")
    with pytest.raises(CheblienetError, match="must be a file"):
        recipe("/dev/zero")
