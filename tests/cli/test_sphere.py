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
        ("so3 --bandlimit 3 --orientations 2", "so3-equiangular-3x2", "signals (B, C, 6, 6)"),
        ("s2 --sampling random --points 60", "s2-random-60", "60 points (random, seed 0)"),
        ("se2 --points 60 --boundary periodic", "se2-random-60x6", "periodic boundary"),
        ("r2 --points 60 --seed 3", "r2-random-60-seed3", "(random, seed 3), open boundary"),
    ],
)
def test_samplings(
    capsys: pytest.CaptureFixture[str], arguments: str, name: str, described: str
) -> None:
    assert run(["build", *arguments.split(), "--device", "cpu"]) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{name}@v001\n"
    assert described in captured.err
    assert run(["inspect", "--full"]) == 0
    assert described in capsys.readouterr().out
    assert run(["verify"]) == 0
    capsys.readouterr()
    assert run(["build", *arguments.split(), "--dry-run"]) == 0
    assert ", at most " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("s2 --subdivisions 2 --engine stencil", "--engine must be auto, pruned or keops with"),
        ("s2 --subdivisions 2 --engine fast", "--engine must be one of auto, stencil, pruned,"),
        ("s2 --subdivisions 2 --device tpu", "--device must be one of auto, cpu, cuda"),
        ("r2 --size 8 --engine stencil --device cuda", "--device must be auto or cpu with the st"),
        ("s2 --subdivisions 0 --neighbors 4 --device cpu", "--neighbors must be at least 5 here"),
        ("recipe imagenet", "There is no recipe 'imagenet'. There are cifar10, cifar10-isotropic"),
        (
            "se3 --size 3",
            "There is no manifold 'se3'. Choose one of r2, se2, s2, so3, r3, r3s2, or `recip",
        ),
    ],
)
def test_wrong_usage(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: str, complaint: str
) -> None:
    assert run(["build", *arguments.split()]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"Error: {complaint}")
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert not list(here.glob("*.zarr"))


def test_no_gpu_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is one")
    assert run(["build", "s2", "--subdivisions", "1", "--device", "cuda"]) == 2
    assert "torch sees no CUDA device. Got 'cuda'. Use --device cpu" in capsys.readouterr().err


def test_missing_healpix_is_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "astropy_healpix.healpy", None)
    assert run(["build", "s2", "--nside", "2"]) == 1
    message = capsys.readouterr().err
    assert "needs astropy-healpix, which is not installed" in message
    assert "pip install" in message
    assert message.count("\n") == 1


def test_recipes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recipes"]) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 8
    assert any(line.startswith("mnist-isotropic ") and " 784 " in line for line in table)
    assert any("61452 / 15372 / 3852 / 972 / 252 / 72" in line for line in table)
    assert run(["recipes", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [recipe["name"] for recipe in found] == sorted(recipe["name"] for recipe in found)
    assert run(["build", "recipe", "cifar10-isotropic"]) == 0
    assert capsys.readouterr().out == "cifar10-isotropic@v001\n"
    (here / "small.toml").write_text('[graph]\nmanifold = "s2"\nsubdivisions = 1\n')
    assert run(["build", "recipe", "small.toml", "--name", "tiny", "--device", "cpu"]) == 0
    assert capsys.readouterr().out == "tiny@v001\n"
    assert run(["build", "recipe", "climatenet", "--dry-run"]) == 0
    assert "level 0: 61,452 vertices" in capsys.readouterr().out
    assert run(["build", "recipe", "other.toml"]) == 2
    assert "can't be read" in capsys.readouterr().err
    (here / "few.toml").write_text('[graph]\nmanifold = "r2"\nsize = 8\nneighbors = 1\n')
    assert run(["build", "recipe", "few.toml"]) == 2
    assert capsys.readouterr().err.startswith("Error: few.toml: neighbors must be at least 4")
    assert run(["build", "recipe", "few.toml", "--engine", "fast"]) == 2
    assert capsys.readouterr().err.startswith("Error: --engine must be one of")


def test_engines_publish_the_same(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for engine in ("auto", "stencil", "pruned"):
        arguments = ["--engine", engine, "--device", "cpu", "--store", f"{engine}.zarr"]
        assert run(["build", "se2", "--size", "8", "--quiet", *arguments]) == 0
    manifests = {
        json.dumps(
            json.loads((here / f"{engine}.zarr/se2-8x8x6/v001/zarr.json").read_text())[
                "attributes"
            ]["clg"]["manifest"]
        )
        for engine in ("auto", "stencil", "pruned")
    }
    assert len(manifests) == 1


@pytest.mark.slow
def test_what_was_reached_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "so3", "--subdivisions", "1", "--xi", "auto", "--device", "cpu"]) == 0
    assert "level 0: in-plane fraction 0.4" in capsys.readouterr().err
