"""clg build map, and the commands that read maps."""

import json
from pathlib import Path

import scipy.sparse
from failures import Clg

from cheblienet_graphs import GraphSpec, MapSpec, build
from cheblienet_models import open_store

BUILD = "build map --source 's2 --gaussian O4' --target 's2 --subdivisions 1'"
SPEC = MapSpec(GraphSpec("s2", gaussian="O4"), GraphSpec("s2", subdivisions=1), neighbors=2)


def test_a_map_is_built_once_and_read(here: Path, clg: Clg) -> None:
    name = "s2-gaussian-O4-to-s2-icosahedral-1-k2"
    out, err = clg(f"{BUILD} --neighbors 2")
    assert out == f"{name}@v001\n"
    assert "208 sources, 42 targets," in err
    assert f"Published as {name}@v001 in graphs.zarr." in err
    told = json.loads(clg(f"{BUILD} --neighbors 2 --json").out)
    assert (told["built"], told["spec"]) == (False, SPEC.to_dict())
    assert told["spec_sha256"] == SPEC.sha256
    report = json.loads(clg("inspect --json").out)
    assert (report["entries"], report["spec"]) == (told["sizes"]["nnz"], SPEC.to_dict())
    assert "the 2 nearest sources of each target, ties included" in clg(f"inspect {name}").out
    listed = json.loads(clg("ls --json").out)
    assert [(of["kind"], of["vertices"]) for of in listed] == [("map", [42, 208])]
    assert "208 -> 42 vertices  map" in clg("ls").out
    assert json.loads(clg("verify --json").out)["faults"] == []
    clg(f"tag {name} paper")
    open_store("graphs.zarr").maps[name].save_npz("m.npz")
    clg(f"export {name}@paper --to zip --output m.zip")
    clg("import m.zip --store other.zarr")
    dense = scipy.sparse.load_npz("m.npz").toarray()
    assert (open_store("other.zarr").maps[name].matrix.to_dense().numpy() == dense).all()
    clg(f"rm {name}@v001 --force")
    assert list(open_store(here / "graphs.zarr").maps) == []


def test_a_dry_run_writes_nothing(here: Path, clg: Clg) -> None:
    out = clg(f"{BUILD} --neighbors 2 --dry-run").out
    assert out.startswith("from 208 vertices: S^2: 208 points (octahedral Gaussian grid O4)\nto 42")
    assert "the 2 nearest sources of each target, ties included; weights by inverse" in out
    told = json.loads(clg(f"{BUILD} --radius 1 --dry-run --json").out)
    assert (told["sources"], told["spec"]["radius"]) == (208, 1)
    assert not list(here.iterdir())


def test_sides_are_read_as_builds_are(here: Path, clg: Clg) -> None:
    (here / "p.csv").write_text("latitude,longitude\n50,10\n-20,120\n40,-80\n")
    sides = "--source 's2 --points-file p.csv' --target 's2 --nside 1 --region 0,-90,90,90'"
    clg(f"build map {sides} --name m --radius 3")
    assert open_store("graphs.zarr").maps["m"].num_sources == 3


def test_commands_of_graphs_say_that_it_is_a_map(clg: Clg) -> None:
    clg(f"{BUILD} --neighbors 2 --name m")
    build(GraphSpec("s2", subdivisions=1), "graphs.zarr", name="g")
    for command in ("plot spectrum m -o f.png", "diff m g", "neighbors m --vertex 0"):
        refused = clg(command, 1).err
        assert "m/v001 is a map between samplings, where a graph is needed." in refused
    for command in ("inspect m --html page.html", "inspect m --level 0", "export m --to npz"):
        assert "map" in clg(command, 2).err
