"""The command and the Python on a page make the specification that they tell of."""

import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from digests import SPECS as DIGESTED
from many_specs import Given, many_specs
from masks import awkward

import cheblienet_cli.build
import cheblienet_graphs
from cheblienet_cli.main import run
from cheblienet_cli.spelling import option
from cheblienet_graphs import GraphSpec
from cheblienet_graphs.page.again import command, least_fields, missing, python, recipe_of
from cheblienet_graphs.recipes import recipe, recipes

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


BUILDERS = "mask", "coordinates", "domain"
"""What only whoever built the graph has."""


def ran(fields: dict[str, Any], **own: Any) -> GraphSpec:
    """The specification that the Python builds from."""
    built: list[Any] = []
    known = {"GraphSpec": GraphSpec, "build": lambda *given, **more: built.append((given, more))}
    known |= own
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
    clg, *arguments = shlex.split(command(fields, "mine", option))
    assert clg == "clg"
    assert arguments[-2:] == ["--name", "mine"]
    assert run([*arguments, "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spec_sha256"] == spec.sha256
    assert missing(spec, fields) == []


@pytest.fixture
def typed_spec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The specification that the command line makes of a command, with the builder's own files."""
    made: list[GraphSpec] = []
    monkeypatch.setattr(cheblienet_cli.build, "_run", lambda spec, **_: made.append(spec))

    def spec_of(line: str, given: Given) -> GraphSpec:
        files: dict[str, list[str]] = {}
        for field, flag in (("mask", "--mask"), ("coordinates", "--points-file")):
            arrays = given.get(field, ())
            several = arrays if field == "coordinates" else [arrays] * (field in given)
            for number, array in enumerate(several):
                file = tmp_path / f"{field}{number}.npy"
                np.save(file, array)
                files.setdefault(flag, []).append(str(file))
        clg, *arguments = shlex.split(line)
        assert clg == "clg"
        for place, argument in enumerate(arguments):
            if argument == "FILE":
                arguments[place] = files[arguments[place - 1]].pop(0)
            elif argument == "X0,Y0,X1,Y1":
                arguments[place] = ",".join(map(repr, given["domain"]))
        assert run(arguments) == 0
        return made.pop()

    return spec_of


@pytest.mark.parametrize("source", ["digested", pytest.param("random", marks=pytest.mark.slow)])
def test_whatever_is_built_can_be_built_again(source: str, typed_spec: Any) -> None:
    """By the command, by the Python, and by the recipe if there is one."""
    every = [({}, spec) for spec in DIGESTED.values()]
    for given, known in every if source == "digested" else many_specs(300):
        spec = known.recorded()
        fields, own = least_fields(spec), {key: given[key] for key in BUILDERS if key in given}
        said = " ".join(missing(spec, fields))
        if "coordinates" in own and spec.geometry.base.flat:
            assert "leave `domain` out" in said
            # Whoever gave none leaves it out, or gives their bounding box.
            every_point = np.concatenate([table[:, :2] for table in own["coordinates"]])
            box = [*every_point.min(axis=0).tolist(), *every_point.max(axis=0).tolist()]
            own.setdefault("domain", box)
        if {"coordinates", "mask"} <= own.keys() and spec.region is not None:
            # A store does not tell such masks from regions.
            assert "If there was a mask besides the region" in said
            fields |= {"mask": spec.to_dict()["mask"]}
        assert ran(fields, **own).sha256 == known.sha256, given
        assert typed_spec(command(fields, "mine", option), own).sha256 == known.sha256, given
        assert all(f"`{field}`" in said for field in own if field in fields)
        named = recipe_of(spec)
        assert named is None or recipe(named).spec.sha256 == known.sha256


@pytest.mark.parametrize("mask", [None, np.arange(162) % 2 == 0])
def test_a_region_is_looked_up_once(mask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = GraphSpec("s2", subdivisions=2, region=(0, 0, 90, 80), mask=mask, levels=1).recorded()
    made, full = [], GraphSpec.full_sampling
    monkeypatch.setattr(GraphSpec, "full_sampling", lambda *given: made.append(1) or full(*given))
    assert ("mask" in least_fields(spec)) is (mask is not None)
    assert len(made) == 1


def test_no_field_is_said_that_follows_from_the_others() -> None:
    assert least_fields(SPECS["default"]) == {"manifold": "se2", "size": [32, 32]}
    assert command(least_fields(SPECS["default"]), None, option) == "clg build se2 --size 32x32"
    assert least_fields(SPECS["torus"])["eps_squared"] == 0.05
    assert "mask" not in least_fields(SPECS["region"].recorded())


def test_what_only_the_builder_has_is_named() -> None:
    masked = GraphSpec("se2", mask=awkward(24), orientations=4).recorded()
    fields = least_fields(masked)
    assert shlex.split(command(fields, None, option))[-2:] == ["--mask", "FILE"]
    assert "mask=mask" in python(fields, None)
    [said] = missing(masked, fields)
    assert masked.mask is not None
    assert masked.mask.sha256 in said
    own = GraphSpec("r2", coordinates=[POINTS, POINTS[:9]]).recorded()
    fields = least_fields(own)
    assert shlex.split(command(fields, None, option)).count("--points-file") == 2
    assert "coordinates=coordinates" in python(fields, None)
    [said] = missing(own, fields)
    assert "40 / 9 points" in said
    both = GraphSpec("s2", subdivisions=2, region=(0, 0, 90, 80), mask=np.arange(162) % 2 == 0)
    assert {"mask", "region"} <= least_fields(both.recorded()).keys()


def test_recipes_are_known() -> None:
    assert [recipe_of(known.spec) for known in recipes()] == [known.name for known in recipes()]
    assert recipe_of(SPECS["torus"]) is None


def test_the_imports_of_the_python_exist() -> None:
    assert {"GraphSpec", "build"} <= set(cheblienet_graphs.__all__)
