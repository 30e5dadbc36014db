"""clg on positions and axes."""

import json
from pathlib import Path

import numpy as np
import pytest

from cheblienet_cli.main import run


def test_build_and_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = str(tmp_path / "g.zarr")
    np.save(tmp_path / "m.npy", np.indices((4, 6, 6)).sum(0) < 12)
    how = ["--axes", "6", "--eps-squared", "0.1", "--spacing", "1,1,2", "--levels", "1"]
    how += ["--mask", str(tmp_path / "m.npy"), "--store", store]
    assert run(["build", "r3s2", *how]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == "r3s2-6x6x4x6-masked@v001"
    assert (
        "6 x 6 x 4 voxels (width x height x depth) x 6 axes, sides of a voxel 1 : 1 : 2" in said.err
    )
    assert "along (along, across, across, tilt, tilt)" in said.err
    assert run(["inspect", "--store", store, "--json", "--eigenvalues", "0"]) == 0
    (level,) = json.loads(capsys.readouterr().out)["levels"]
    assert level["grid"] == [6, 4, 6, 6]
    assert run(["verify", "--store", store]) == 0
    folder = tmp_path / "out"
    assert run(["export", "--to", "npz", "--output", str(folder), "--store", store]) == 0
    assert np.load(folder / "coordinates-0.npy").shape[1] == 6


def test_help_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "r3s2", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "positions and axes, the quotient of SE(3) by rotations about the axis" in shown
    assert "--axes SET" in shown
    assert "--orientations" not in shown
    assert run(["build", "se2", "--help"]) == 0
    assert "--axes" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--axes", "5"], "Error: --axes must be one of 3, 4, 6, 7, 12, 13, 22, 43, or ico6"),
        (["--orientations", "12"], "Error: --orientations must be left out on r3s2: --axes says"),
        (["--spacing", "1,2"], "Error: --spacing must be x,y,z: three positive sides"),
    ],
)
def test_wrong_usage(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = ["build", "r3s2", "--size", "8", "--store", str(tmp_path / "g.zarr")]
    assert run([*command, *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith(said)
    assert "\n" not in error
