"""Building on the sphere, and recipes, as a user meets them."""

import json
from pathlib import Path

import pytest

from cheblienet_cli.main import run


@pytest.mark.parametrize(
    ("arguments", "name", "described"),
    [
        ("s2 --subdivisions 2", "s2-icosahedral-2", "162 points (icosahedron, 2 subdivisions)"),
        ("so3 --nside 2", "so3-healpix-2x6", "48 points (HEALPix, nside 2, nested) x 6 orient"),
        ("se2 --points 60 --boundary periodic", "se2-random-60x6-periodic", "periodic boundary"),
        ("r2 --points 60 --seed 3", "r2-random-60-seed3", "(random, seed 3), open boundary"),
    ],
)
def test_samplings(
    capsys: pytest.CaptureFixture[str], arguments: str, name: str, described: str
) -> None:
    assert run(["build", *arguments.split(), "--device", "cpu", "--verbose"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{name}@v001\n"
    assert described in captured.err
    assert run(["inspect", "--full"]) == 0
    assert described in capsys.readouterr().out
    assert run(["verify"]) == 0
    capsys.readouterr()
    assert run(["build", *arguments.split(), "--dry-run"]) == 0
    assert ", at most " in capsys.readouterr().out


def test_recipes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recipes"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 8
    assert any(line.startswith("mnist-isotropic ") and " 784 " in line for line in table)
    assert any("61452 / 15372 / 3852 / 972 / 252 / 72" in line for line in table)
    assert run(["recipes", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [recipe["name"] for recipe in listed] == sorted(recipe["name"] for recipe in listed)
    assert run(["build", "recipe", "cifar10-isotropic"]) == 0
    assert capsys.readouterr().out == "cifar10-isotropic@v001\n"
    (here / "small.toml").write_text('[graph]\nmanifold = "s2"\nsubdivisions = 1\n')
    assert run(["build", "recipe", "small.toml", "--name", "tiny", "--device", "cpu"]) == 0
    assert capsys.readouterr().out == "tiny@v001\n"
    assert run(["build", "recipe", "climatenet", "--dry-run"]) == 0
    assert "level 0: 61,452 vertices" in capsys.readouterr().out


@pytest.mark.slow
def test_what_was_reached_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    how = ["--xi", "auto", "--device", "cpu", "--verbose"]
    assert run(["build", "so3", "--subdivisions", "1", *how]) == 0
    assert "level 0: in-plane fraction 0.4" in capsys.readouterr().err
