"""The command and the Python on a page make the specification that they tell of."""

import json
import shlex
from typing import Any

import numpy as np
import pytest
from masks import awkward

import cheblienet_graphs
from cheblienet_cli.main import run
from cheblienet_cli.spelling import as_options
from cheblienet_graphs import GraphSpec
from cheblienet_graphs.page.again import command, least_fields, missing, python, recipe_of
from cheblienet_graphs.recipes import recipes

POINTS = np.random.default_rng(0).random((40, 2))
SPECS = {
    "default": GraphSpec("se2", 32),
    "torus": GraphSpec("se2", "32x16", boundary="periodic", eps_squared=0.05, xi=0.3, levels=2),
    "thirds": GraphSpec("se2", 32, eps=1 / 3, alpha=2 / 3, bandwidth=0.1 + 0.2, directional=0.05),
    "selling": GraphSpec("se2", 32, weights="selling", laplacian="normalized", lambda_max=2),
    "plane": GraphSpec("r2", 24, kernel="cauchy", neighbors=12, eigenpairs=4),
    "space": GraphSpec("r3", "8x12x8", weights="matched"),
    "axes": GraphSpec("r3s2", 8, axes="ico6", spacing=(1, 1, 2), levels=1),
    "random": GraphSpec("r2", points=50, seed=3),
    "sphere": GraphSpec("s2", nside=4, weights="matched", neighbors=24),
    "gaussian": GraphSpec("s2", gaussian="F8"),
    "fraction": GraphSpec("so3", subdivisions=2, in_plane_fraction=0.3, orientations=4),
    "region": GraphSpec("s2", subdivisions=3, region=(-20, 30, 40, 70)),
}


def ran(fields: dict[str, Any]) -> GraphSpec:
    """The specification that the Python builds from."""
    built: list[Any] = []
    known = {"GraphSpec": GraphSpec, "build": lambda *given, **more: built.append((given, more))}
    first, blank, line = python(fields, "mine").splitlines()
    assert (first, blank) == ("from cheblienet_graphs import GraphSpec, build", "")
    exec(line, known)  # the page's own line
    [((spec, store), more)] = built
    assert (store, more) == ("graphs.zarr", {"name": "mine"})
    assert isinstance(spec, GraphSpec)
    return spec


@pytest.mark.parametrize("name", SPECS)
def test_both_make_the_same_specification(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = SPECS[name].recorded()
    fields = least_fields(spec)
    assert ran(fields) == spec
    clg, *arguments = shlex.split(command(fields, "mine", as_options))
    assert clg == "clg"
    assert arguments[-2:] == ["--name", "mine"]
    assert run([*arguments, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec_sha256"] == spec.sha256
    assert missing(spec, fields) == []


def test_no_field_is_said_that_follows_from_the_others() -> None:
    assert least_fields(SPECS["default"]) == {"manifold": "se2", "size": [32, 32]}
    assert command(least_fields(SPECS["default"]), None, as_options) == "clg build se2 --size 32x32"
    assert least_fields(SPECS["torus"])["eps_squared"] == 0.05
    assert "mask" not in least_fields(SPECS["region"].recorded())


def test_what_only_the_builder_has_is_named() -> None:
    masked = GraphSpec("se2", mask=awkward(24), orientations=4).recorded()
    fields = least_fields(masked)
    assert shlex.split(command(fields, None, as_options))[-2:] == ["--mask", "FILE"]
    assert "mask=mask" in python(fields, None)
    [said] = missing(masked, fields)
    assert masked.mask is not None
    assert masked.mask.sha256 in said
    own = GraphSpec("r2", coordinates=[POINTS, POINTS[:9]]).recorded()
    fields = least_fields(own)
    assert shlex.split(command(fields, None, as_options)).count("--points-file") == 2
    assert "coordinates=coordinates" in python(fields, None)
    [said] = missing(own, fields)
    assert "40 / 9 points" in said
    both = GraphSpec("s2", subdivisions=2, region=(0, 0, 90, 80), mask=np.arange(162) % 2 == 0)
    assert {"mask", "region"} <= least_fields(both.recorded()).keys()


def test_recipes_are_known() -> None:
    assert [recipe_of(recipe.spec) for recipe in recipes()] == [r.name for r in recipes()]
    assert recipe_of(SPECS["torus"]) is None


def test_the_imports_of_the_python_exist() -> None:
    assert {"GraphSpec", "build"} <= set(cheblienet_graphs.__all__)
