"""The scripts of examples/ run on pictures and volumes of a user's own, and find lines in them."""

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image

from cheblienet_models import harmonics_matrix

EXAMPLES = Path(__file__).parents[1] / "examples"
WIDTH, HEIGHT = 96, 80
Y, X = np.mgrid[:HEIGHT, :WIDTH].astype(float)
DISTANCES = (
    abs((X - right) * np.sin(angle) - (Y - down) * np.cos(angle))
    for angle, right, down in [(0.9, 45, 40), (-0.4, 48, 38)]
)
LINES = np.exp(-(np.minimum(*DISTANCES) ** 2) / 4)
"""(HEIGHT, WIDTH), 1 on two lines that cross, 0 elsewhere."""
NOISE = np.random.default_rng(0).standard_normal(LINES.shape)
TURN = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
AFFINE = np.eye(4)
AFFINE[:3, :3] = TURN @ np.diag([2.0, 2.0, 2.5])
Run = Callable[..., None]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, here: Path) -> Run:
    """A script as Python runs it, in an empty folder."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def script(name: str, *arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")

    return script


def save(file: str, brightness: NDArray[np.float64]) -> None:
    Image.fromarray(np.uint8(np.clip(255 * brightness, 0, 255))).save(file)


def parts(file: str, count: int) -> list[NDArray[np.float64]]:
    """Pictures beside each other, without copies."""
    return np.split(np.asarray(Image.open(file), float) / 255, count, axis=1)


def correlation(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


@pytest.mark.slow
def test_message_passing(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """The trained step carries fields better than none does."""
    pytest.importorskip("torch_geometric")
    run("message_passing.py", "--steps", 60)
    unchanged, carried = (float(n) for n in re.findall(r"0\.\d+", capsys.readouterr().out))
    assert carried < unchanged / 4


@pytest.mark.slow
def test_enhance(run: Run) -> None:
    truth = 1 - LINES
    save("noisy.png", 0.25 + truth / 2 + 0.2 * NOISE)
    run("enhance.py", "noisy.png", "out.png", "--dark")
    shown, lines = parts("out.png", 2)
    np.testing.assert_array_equal(shown, np.asarray(Image.open("noisy.png")) / 255)
    assert lines.shape == truth.shape
    assert correlation(lines, truth) > 0.8 > 0.6 > correlation(shown, truth)


def test_vessel_map(run: Run) -> None:
    field = np.hypot(X - 48, Y - 40) < 36
    green = np.where(field, 0.6 - 0.2 * LINES + 0.1 * NOISE, 0)
    save("fundus.png", np.stack([0.8 * field, green, 0 * green], axis=-1))
    run("vessel_map.py", "fundus.png", "out.png", "--side", HEIGHT)
    vessels = parts("out.png", 2)[1]
    assert correlation(vessels[field], LINES[field]) > 0.7
    assert not vessels[~field].any()


@pytest.mark.slow
def test_train_vessels(run: Run) -> None:
    for name, noise in (("0", NOISE), ("1", NOISE[::-1])):
        save(f"{name}.jpg", np.stack([0.6 - 0.3 * LINES + 0.05 * noise] * 3, axis=-1))
        save(f"{name}_traced.png", LINES > 0.5)
    sizes = "--steps", 12, "--side", HEIGHT
    run("train_vessels.py", "*.jpg", "*_traced.png", "map.png", *sizes)
    green, traced, vessels = parts("map.png", 3)
    np.testing.assert_array_equal(traced, LINES > 0.5)
    assert correlation(vessels, LINES) > 0.7 > correlation(green, LINES)


def stripes(width: int, height: int, period: int) -> NDArray[np.float64]:
    """(height, width), vertical stripes whose phase is that of the middle."""
    across = np.arange(width) - width / 2
    return np.tile(0.5 + 0.4 * np.sin(2 * np.pi * across / period), (height, 1))


@pytest.mark.slow
def test_photos(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """Stripes and even gray, of mixed sizes; a turned photo has the same probabilities."""
    for name in ("fine", "even"):
        Path("photos", name).mkdir(parents=True)
        Path("photos", name, "notes.txt").write_text("notes")
        for number, size in enumerate(2 * [(40, 30), (24, 64), (33, 33), (90, 20)]):
            picture = stripes(*size, 4) if name == "fine" else stripes(*size, 10**6)
            save(f"photos/{name}/{number}.png", picture + 0.02 * number)
    run("photos.py", "train", "photos", "model.pt", "--side", 16, "--steps", 12)
    assert capsys.readouterr().out == "2 of 2 photos that were left out are classified right.\n"
    new = stripes(50, 36, 4)
    for name, picture in (("new.jpg", new), ("turned.png", np.rot90(new)), ("new.png", new)):
        save(name, picture)
    run("photos.py", "predict", "model.pt", "new.jpg", "new.png", "turned.png")
    jpeg, upright, turned = capsys.readouterr().out.splitlines()
    assert jpeg.startswith("new.jpg: fine ")
    assert upright.partition(": ")[2] == turned.partition(": ")[2]


def save_volume(file: str, values: np.ndarray, affine: np.ndarray = AFFINE) -> None:
    nibabel.save(nibabel.Nifti1Image(values, affine), file)


@pytest.mark.slow
def test_enhance_fibers(run: Run) -> None:
    """Two bundles along i and j, in directions of the world."""
    axes = torch.eye(3).double()[:2] @ torch.from_numpy(TURN).T
    lobes = harmonics_matrix(axes, 4, "tournier07").numpy()
    i, j, k = np.indices((8, 7, 5)) - np.array([3.5, 3, 2])[:, None, None, None]
    truth = sum(
        (np.hypot(a, k) < 1.2)[..., None] * lobe for a, lobe in zip((j, i), lobes, strict=True)
    )
    noisy = truth + 0.4 * np.random.default_rng(0).standard_normal(truth.shape)
    inside = np.ones(truth.shape[:3], np.uint8)
    inside[:, :, 0] = 0
    save_volume("fod.nii.gz", np.float32(noisy))
    save_volume("mask.nii.gz", inside)
    enhanced = {}
    for name, option in (("out.nii.gz", []), ("turned.nii.gz", ["--voxel-directions"])):
        options = "--basis", "tournier07", "--time", "1", *option
        run("enhance_fibers.py", "fod.nii.gz", "mask.nii.gz", name, *options)
        image = nibabel.load(name)
        np.testing.assert_allclose(image.affine, AFFINE, atol=1e-6)
        enhanced[name] = np.asarray(image.dataobj)
        assert enhanced[name].shape == truth.shape
        assert not enhanced[name][:, :, 0].any()
    alike = {name: correlation(v[:, :, 1:], truth[:, :, 1:]) for name, v in enhanced.items()}
    assert alike["out.nii.gz"] > correlation(noisy[:, :, 1:], truth[:, :, 1:]) + 0.05
    assert alike["out.nii.gz"] > alike["turned.nii.gz"] + 0.01


REFUSED = {
    "enhance.py notes.xyz out.png": "cannot identify image file",
    "vessel_map.py gray.png out.xyz": "must be a picture, as .png, in a folder",
    "train_vessels.py tall*.png tall*.png out.png --side 64": "give a larger --side",
    "photos.py train . out.pt": "sub-folder of photos for each of 2 or more classes. Found 0.",
    "photos.py train broken out.pt": "Error: broken/a/0.png is not a picture that Pillow can read.",
    "photos.py predict gray.png gray.png": "gray.png is not a model that `train` wrote",
    "enhance_fibers.py fod.nii other.nii out.nii": "other.nii: its affine must be that of the",
    "enhance_fibers.py fod.nii mask.nii out.nii": "has 7 coefficients; even degrees",
}


@pytest.mark.parametrize("command", REFUSED)
def test_refusals(run: Run, capsys: pytest.CaptureFixture[str], command: str) -> None:
    """The last line that Python or argparse prints says what was wrong."""
    Path("notes.xyz").write_text("notes")
    for name in ("broken/a", "broken/b"):
        Path(name).mkdir(parents=True)
        Path(name, "0.png").write_text("notes")
    save("lines.png", LINES)
    save("gray.png", np.full(LINES.shape, 0.5))
    for number in range(2):
        save(f"tall{number}.png", LINES.T[:, :40])
    save_volume("fod.nii", np.zeros((3, 3, 3, 7), np.float32))
    for name, affine in (("mask.nii", AFFINE), ("other.nii", np.eye(4))):
        save_volume(name, np.ones((3, 3, 3), np.uint8), affine)
    basis = ["--basis", "tournier07"] * command.startswith("enhance_fibers")
    with pytest.raises(SystemExit) as caught:
        run(*command.split(), *basis)
    code = caught.value.code
    printed = capsys.readouterr().err if code == 2 else str(code)
    assert REFUSED[command] in printed.strip().splitlines()[-1]
