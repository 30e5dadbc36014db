"""Folders of classes with pictures in them, written by Pillow."""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from labelled_files import RNG, grey, pictures, refusal
from PIL import Image


def save(file: Path, pixels: np.ndarray, mode: str | None = None, **options: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    image = Image.fromarray(pixels)
    (image.convert(mode) if mode else image).save(file, **options)
    return file


def colour(height: int = 4, width: int = 5) -> np.ndarray:
    return RNG.integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.fixture
def cats(tmp_path: Path) -> np.ndarray:
    """Two cats and a dog, grey (3, 4, 5), in folders of classes; and what is to be ignored."""
    values = grey(3)
    for name, pixels in zip(("cat/a.png", "cat/b.PNG", "dog/a.bmp"), values, strict=True):
        save(tmp_path / name, pixels)
    for name in (".DS_Store", "Thumbs.db", "cat/.hidden.txt", "dog/thumbs.db"):
        (tmp_path / name).touch()
    (tmp_path / ".cache").mkdir()
    return values


def test_classes(tmp_path: Path, cats: np.ndarray) -> None:
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images, cats[:, None])
    assert found.labels.tolist() == [0, 0, 1]
    assert found.names == ("cat", "dog")
    assert found.is_test is None


@pytest.mark.parametrize(
    ("training", "test", "alone"),
    [("train", "test", "val"), ("train", "val", None), ("Training", "Valid", None)],
)
def test_training_and_test(tmp_path: Path, training: str, test: str, alone: str | None) -> None:
    values = grey(4)
    names = (f"{training}/b/1.png", f"{training}/a/1.png", f"{training}/c/1.png", f"{test}/c/1.png")
    for name, pixels in zip(names, values, strict=True):
        save(tmp_path / name, pixels)
    if alone:
        save(tmp_path / alone / "a" / "1.png", values[0])
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images[:, 0], values[[1, 0, 2, 3]])
    assert found.labels.tolist() == [0, 1, 2, 2]
    assert found.names == ("a", "b", "c")
    assert found.is_test.tolist() == [False, False, False, True]


def test_a_class_may_be_called_train(tmp_path: Path) -> None:
    for name in ("bus", "train"):
        save(tmp_path / name / "1.png", grey(1)[0])
    assert pictures.read(tmp_path).names == ("bus", "train")


def test_colours(tmp_path: Path) -> None:
    """Grey ones among coloured ones have three equal channels; alone they have one."""
    values, red = grey(2), colour()
    save(tmp_path / "a" / "1.png", values[0])
    save(tmp_path / "b" / "1.png", np.repeat(values[1][..., None], 3, axis=2))
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images, values[:, None])
    save(tmp_path / "b" / "2.png", red)
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images[:2], np.repeat(values[:, None], 3, axis=1))
    assert np.array_equal(found.images[2], red.transpose(2, 0, 1))


@pytest.mark.parametrize("name", ["p.tif", "p.TIFF", "p.bmp", "p.png"])
def test_formats_without_loss(tmp_path: Path, name: str) -> None:
    values = [colour(), colour()]
    for class_, pixels in zip("ab", values, strict=True):
        save(tmp_path / class_ / name, pixels)
    assert np.array_equal(pictures.read(tmp_path).images, np.stack(values).transpose(0, 3, 1, 2))


def test_formats_with_loss(tmp_path: Path) -> None:
    """Flat pictures survive; of a GIF the first frame is taken, of a palette its colours."""
    flat = np.full((8, 8, 3), (204, 51, 102), np.uint8)
    save(tmp_path / "a" / "1.jpg", flat, quality=95)
    save(tmp_path / "a" / "2.JPEG", flat, quality=95)
    later = [Image.fromarray(255 - flat)]
    save(tmp_path / "b" / "1.gif", flat, save_all=True, append_images=later)
    save(tmp_path / "b" / "2.png", flat, "P")
    found = pictures.read(tmp_path).images.numpy()
    assert np.abs(found.astype(int) - flat.transpose(2, 0, 1)).max() <= 3
    binary = np.eye(8, dtype=bool)
    for class_ in "ab":
        save(tmp_path / "bits" / class_ / "1.png", binary)
    assert np.array_equal(pictures.read(tmp_path / "bits").images[1, 0], 255 * binary)


def test_photographs_are_upright(tmp_path: Path) -> None:
    """EXIF's 6 says: turn it by 90 degrees clockwise."""
    pixels, exif = grey(1)[0], Image.Exif()
    exif[0x0112] = 6
    save(tmp_path / "a" / "1.png", pixels, exif=exif)
    save(tmp_path / "b" / "1.png", np.rot90(pixels, -1))
    found = pictures.read(tmp_path).images
    assert np.array_equal(found[0, 0], np.rot90(pixels, -1))
    assert np.array_equal(found[0], found[1])


def test_pictures_of_several_sizes(tmp_path: Path) -> None:
    """Central squares: columns 2 to 9 of 12, rows 1 to 4 of 6."""
    wide, high = colour(8, 12), colour(6, 4)
    first = save(tmp_path / "a" / "1.png", wide)
    second = save(tmp_path / "b" / "1.png", high)
    assert refusal(tmp_path) == (
        f"Pictures must have one size. {first} is 12 x 8, {second} is 4 x 6; "
        "give --size to bring all to one."
    )
    found = pictures.read(tmp_path, 4).images
    means = wide[:, 2:10].reshape(4, 2, 4, 2, 3).mean(axis=(1, 3))
    assert np.array_equal(found[0], np.round(means).transpose(2, 0, 1))
    assert np.array_equal(found[1], high[1:5].transpose(2, 0, 1))
    assert pictures.read(tmp_path, 9).images.shape == (2, 3, 9, 9)


def test_opaque_pictures_are_taken_and_transparent_ones_refused(tmp_path: Path) -> None:
    values = [colour(), colour()]
    opaque = [np.dstack([pixels, np.full((4, 5), 255, np.uint8)]) for pixels in values]
    save(tmp_path / "a" / "1.png", opaque[0])
    save(tmp_path / "b" / "1.png", opaque[1])
    assert np.array_equal(pictures.read(tmp_path).images, np.stack(values).transpose(0, 3, 1, 2))
    opaque[1][2, 3, 3] = 254
    file = save(tmp_path / "b" / "1.png", opaque[1])
    assert refusal(tmp_path) == f"{file} has transparent pixels; save it on a background."


@pytest.mark.parametrize("values", [np.uint16, np.float32])
def test_deeper_pictures_are_refused(tmp_path: Path, cats: np.ndarray, values: type) -> None:
    save(tmp_path / "dog" / "deep.tif", cats[0].astype(values))
    assert re.search(r"deep.tif must have 8 bits a channel. Its mode is [IF]", refusal(tmp_path))


def test_unreadable_pictures(tmp_path: Path, cats: np.ndarray) -> None:
    file = save(tmp_path / "dog" / "z.png", cats[0])
    whole = file.read_bytes()
    for contents in (b"", b"hello", whole[:20], whole[:-30], whole[:44] + b"~~~~" + whole[48:]):
        file.write_bytes(contents)
        message = refusal(tmp_path)
        assert message.startswith(f"{file} ")
        assert "is no picture, or a damaged one" in message or "can't be read as" in message
    for suffix in ("jpg", "gif", "tif", "bmp"):
        file.unlink()
        file = save(tmp_path / "dog" / f"z.{suffix}", colour(40, 40))
        file.write_bytes(file.read_bytes()[:90])
        assert refusal(tmp_path).startswith(f"{file} ")


ODD = {
    "beside.png": "beside.png is not in the folder of a class; move it there, or away.",
    "cat/notes.txt": "cat/notes.txt is no picture (.png, .jpg, .jpeg, .bmp, .tif, .tiff, .gif)",
    "cat/more/a.png": "cat must have pictures right in it, as the folder of a class. It has the "
    "folder more.",
    "train/cat/a.png": "has train/ but no test/, val/ or valid/ to test on. Give ",
}


@pytest.mark.parametrize("name", ODD)
def test_what_does_not_belong(tmp_path: Path, cats: np.ndarray, name: str) -> None:
    save(tmp_path / "x.png", cats[0])
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "x.png").rename(tmp_path / name)
    assert ODD[name] in refusal(tmp_path)


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    for name in ("train/a/1.png", "train/b/1.png"):
        save(tmp_path / name, grey(1)[0])
    test = tmp_path / "test"
    test.mkdir()
    assert refusal(tmp_path) == (
        f"{test} must have a folder of pictures for each class. It has none."
    )
    file = save(test / "1.png", grey(1)[0])
    assert f"{file} is not in the folder of a class" in refusal(tmp_path)
    (test / "A").mkdir()
    file.rename(test / "A" / "1.png")
    assert refusal(tmp_path) == (
        f"{test / 'A'} is of a class without pictures to train on. Those are of a, b."
    )
    (test / "A").rename(test / "a")
    assert pictures.read(tmp_path).is_test.tolist() == [False, False, True]
    (tmp_path / "other").mkdir()
    assert "other lies beside train/ and test/; take it out of" in refusal(tmp_path)
    (tmp_path / "other").rmdir()
    save(tmp_path / "x.png", grey(1)[0])
    assert "x.png lies beside train/ and test/; take it out of" in refusal(tmp_path)
    (tmp_path / "x.png").unlink()
    (test / "b").mkdir()
    assert f"{test / 'b'} has no pictures; take the folder away" in refusal(tmp_path)


def test_notes_beside_folders_are_left_alone(tmp_path: Path) -> None:
    """Archives of data sets have a README.md beside train/ and test/, some in these, too."""
    values = grey(4)
    names = ("train/a/1.png", "train/b/1.png", "test/a/1.png", "test/b/1.png")
    for name, pixels in zip(names, values, strict=True):
        save(tmp_path / name, pixels)
    for name in ("README.md", "labels.csv", "train/README.md", "test/LICENSE"):
        (tmp_path / name).write_text("notes")
    found = pictures.read(tmp_path)
    assert np.array_equal(found.images[:, 0], values)
    assert pictures.read(tmp_path / "train").names == ("a", "b")


def test_one_class(tmp_path: Path) -> None:
    for name in ("train/cat/a.png", "test/cat/a.png"):
        save(tmp_path / name, grey(1)[0])
    assert "must have pictures of two or more classes. Got cat alone." in refusal(tmp_path)
    assert refusal(tmp_path / "train") == (
        f"{tmp_path / 'train'} has the folder cat alone. Give that, or folders of two or more "
        "classes."
    )


def test_without_pillow(tmp_path: Path, cats: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    message = refusal(tmp_path)
    assert "takes Pillow. Install it: pip install 'cheblienet[images]', or pip install" in message
