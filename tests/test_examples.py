"""The scripts of examples/ run on pictures and volumes of a user's own, and find lines in them."""

import os
import re
import runpy
import signal
import sys
from collections.abc import Callable, Iterator
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


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("vessel_map", "green and the vessels"),
        ("enhance", "the picture and its lines"),
        ("train_vessels", "green, the trace and the map"),
    ],
)
def test_help_says_which_panels_are_written(
    run: Run, capsys: pytest.CaptureFixture[str], name: str, panels: str
) -> None:
    with pytest.raises(SystemExit):
        run(f"{name}.py", "--help")
    assert f"to write: {panels}" in " ".join(capsys.readouterr().out.split())


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


@pytest.fixture
def two_classes(here: Path) -> None:
    """Stripes and even gray, one class with a name that would color a terminal."""
    for name in ("fine", "even\x1b[31m"):
        Path("photos", name).mkdir(parents=True)
        for number in range(6):
            picture = stripes(40, 30, 4 if name == "fine" else 10**6)
            save(f"photos/{name}/{number}.png", picture + 0.02 * number)


class Interrupting:
    """trange, of which the third step of one that begins is interrupted as by Ctrl-C."""

    def __init__(self, *steps: int, **how: object) -> None:
        self.steps = range(*steps)

    def __iter__(self) -> Iterator[int]:
        for step in self.steps:
            if step == 2 == self.steps.start + 2:
                signal.raise_signal(signal.SIGINT)
            yield step

    def set_postfix(self, **how: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.usefixtures("two_classes")
def test_photos_are_interrupted_and_resumed(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The weights are those of a training that was not interrupted."""
    options = "--side", 16, "--steps", 6
    run("photos.py", "train", "photos", "whole.pt", *options)
    with pytest.raises(SystemExit, match="does not exist"):
        run("photos.py", "train", "photos", "model.pt", *options, "--resume")
    with monkeypatch.context() as patch:
        patch.setattr("tqdm.trange", Interrupting)
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            run("photos.py", "train", "photos", "model.pt", *options)
    assert ended.value.code == 130
    said = "Stopped after 3 of 6 steps; model.pt has what was learned. The same command with"
    assert said in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    run("photos.py", "predict", "model.pt", "photos/fine/0.png")
    assert "even\\x1b[31m 0." in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"--steps must be 6, as when .*\. Got 7\."):
        run("photos.py", "train", "photos", "model.pt", "--side", 16, "--steps", 7, "--resume")
    Path("photos/fine").rename("photos/other")
    with pytest.raises(SystemExit, match=r"must have the classes even\\x1b\[31m, fine, as when"):
        run("photos.py", "train", "photos", "model.pt", *options, "--resume")
    Path("photos/other").rename("photos/fine")
    run("photos.py", "train", "photos", "model.pt", *options, "--resume")
    weights = [torch.load(file, weights_only=True)["weights"] for file in ("whole.pt", "model.pt")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    with pytest.raises(SystemExit, match="is trained to its end"):
        run("photos.py", "train", "photos", "model.pt", *options, "--resume")
    assert sorted(p.name for p in Path().iterdir()) == ["model.pt", "photos", "whole.pt"]


@pytest.mark.usefixtures("here")
def test_pictures_of_16_bits_keep_their_grays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    from images import read_picture

    wide = np.linspace(0, 65535, 35).reshape(5, 7).astype(np.uint16)
    for file in ("m.png", "m.tif"):
        Image.fromarray(wide).save(file)
        assert np.array_equal(np.asarray(read_picture(Path(file), "L")), wide // 256)
        assert np.asarray(read_picture(Path(file), "RGB")).shape == (5, 7, 3)
    Path("m.pgm").write_bytes(b"P5 7 5 65535\n" + wide.astype(">u2").tobytes())
    assert np.array_equal(np.asarray(read_picture(Path("m.pgm"), "L")), wide // 256)
    Image.fromarray(wide.astype(np.int32)).save("i.tif")
    with pytest.raises(ValueError, match=r"i.tif has 32 bits a pixel \(mode I\)"):
        read_picture(Path("i.tif"), "RGB")


@pytest.mark.parametrize("name", ["photos", "enhance", "vessel_map", "train_vessels"])
def test_missing_pillow_is_named(run: Run, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.delitem(sys.modules, "images", raising=False)
    with pytest.raises(SystemExit, match=r"need Pillow.*pip install 'cheblienet\[images\]'"):
        run(f"{name}.py", "--help")


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


def bad_photos_and_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of photos of which the first can't be read; files that are no models."""
    for name in ("wide", "piped", "huge", "cut"):
        for inner in "ab":
            Path(name, inner).mkdir(parents=True)
            save(f"{name}/{inner}/1.png", LINES)
    Image.fromarray(np.float32(LINES)).save("wide/a/f.tif")
    for file in ("piped/a/0.png", "taken.pt", "taken.png"):
        os.mkfifo(file)
    save("huge/a/0.png", np.zeros((900, 900)))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 300_000)
    whole = Path("gray.png").read_bytes()
    Path("cut/a/0.png").write_bytes(whole[: len(whole) * 2 // 3])
    page = "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n%%EndComments\n%%EOF\n"
    Path("page.png").write_text(page)
    torch.save({"side": 16, "classes": ["a", "b"], "weights": {"a": torch.zeros(3)}}, "odd.pt")
    Path("cut.pt").write_bytes(Path("odd.pt").read_bytes()[:-99])


REFUSED = {
    "enhance.py notes.xyz out.png": "is not a picture that Pillow can read. Remove it, or save",
    "vessel_map.py gray.png out.xyz": "must be a picture, as .png, in a folder",
    "train_vessels.py tall*.png tall*.png out.png --side 64": "give a larger --side",
    "photos.py train . out.pt": "sub-folder of photos for each of 2 or more classes. Found 0.",
    "photos.py train broken out.pt": "Error: broken/a/0.png is not a picture that Pillow can read.",
    "photos.py train wide out.pt": "a/f.tif has 32 bits a pixel (mode F), and nothing says which",
    "photos.py train piped out.pt": "piped/a/0.png is not a file.",
    "photos.py train huge out.pt": "huge/a/0.png has too many pixels. Save it smaller.",
    "photos.py train cut out.pt": "cut/a/0.png can't be read: ",
    "photos.py train . taken.pt": "must be a file that can be written. Got taken.pt.",
    "train_vessels.py gray.png gray.png taken.png": "must be a file that can be written. Got taken",
    "photos.py train . /proc/out.pt": "must be in a folder where one can write. /proc/out.pt can't",
    "photos.py predict gray.png gray.png": "gray.png is not a model that `train` wrote",
    "photos.py predict taken.pt gray.png": "taken.pt is not a file. Give the .pt file of a `train`",
    "photos.py predict cut.pt gray.png": "cut.pt is not a model that `train` wrote, or is damaged.",
    "photos.py predict odd.pt gray.png": "odd.pt is not a model that `train` wrote, or is damaged.",
    "photos.py predict bad\nname.pt gray.png": "Error: bad\\nname.pt does not exist.",
    "vessel_map.py taken.pt out.png": "taken.pt is not a file.",
    "vessel_map.py page.png out.png": "page.png is not a picture that Pillow can read.",
    "enhance_fibers.py fod.nii other.nii out.nii": "other.nii: its affine must be that of the",
    "enhance_fibers.py fod.nii mask.nii out.nii": "has 7 coefficients; even degrees",
}


@pytest.mark.parametrize("command", REFUSED)
def test_refusals(
    run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """The last line that Python or argparse prints says what was wrong."""
    Path("notes.xyz").write_text("notes")
    for name in ("broken/a", "broken/b"):
        Path(name).mkdir(parents=True)
        Path(name, "0.png").write_text("notes")
    save("lines.png", LINES)
    save("gray.png", np.full(LINES.shape, 0.5))
    bad_photos_and_models(monkeypatch)
    for number in range(2):
        save(f"tall{number}.png", LINES.T[:, :40])
    save_volume("fod.nii", np.zeros((3, 3, 3, 7), np.float32))
    for name, affine in (("mask.nii", AFFINE), ("other.nii", np.eye(4))):
        save_volume(name, np.ones((3, 3, 3), np.uint8), affine)
    basis = ["--basis", "tournier07"] * command.startswith("enhance_fibers")
    with pytest.raises(SystemExit) as caught:
        run(*command.split(" "), *basis)
    code = caught.value.code
    printed = capsys.readouterr().err if code == 2 else str(code)
    assert REFUSED[command] in printed.strip().splitlines()[-1]
