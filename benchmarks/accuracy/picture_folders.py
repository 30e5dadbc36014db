"""Folders of classes with pictures in them, through Pillow, which is an extra."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from picture_files import DAMAGE, Array, Raw, reason
from resizing import resized
from tqdm import tqdm

if TYPE_CHECKING:
    from PIL import Image

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif")
FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "GIF")
"""What Pillow may take a file for; by itself it would have Ghostscript run PostScript."""
TRAINING = ("train", "training")
TEST = ("test", "testing")
VALIDATION = ("val", "valid", "validation")
LEFT_ALONE = ("thumbs.db",)


def read_folders(path: Path, size: int | None) -> Raw:
    """Pictures of class folders, or of those in a training and a test folder.

    Each is brought to size x size; without `size`, all must have one.
    """
    training, test = _own_split(path)
    names = tuple(folder.name for folder in _classes(training))
    parts = [_labelled(training, names), _labelled(test, names) if test else []]
    files = [file for part in parts for file, _ in part]
    labels = np.array([label for part in parts for _, label in part], np.int64)
    is_test = np.repeat([False, True], [len(part) for part in parts]) if test else None
    return Raw(_same_channels(_same_size(files, size)), labels, names, is_test)


def visible(folder: Path) -> list[Path]:
    """What lies in a folder, by name, without hidden files and what Windows leaves there."""
    return sorted(
        entry
        for entry in folder.iterdir()
        if not entry.name.startswith(".") and entry.name.lower() not in LEFT_ALONE
    )


def is_picture(entry: Path) -> bool:
    """Whether a file has the name of a picture; others, such as a README, don't count."""
    return entry.suffix.lower() in PICTURES


def _own_split(path: Path) -> tuple[Path, Path | None]:
    """The folders to train and to test on; all of it and None where there are none.

    A folder is for training by its name and because it has folders: "train" may be a class.
    Folders for validation count where there is none for tests; else they are left alone.
    """
    folders = {entry.name.lower(): entry for entry in visible(path) if entry.is_dir()}
    training, test = (
        next((folders[name] for name in names if name in folders), None)
        for names in (TRAINING, TEST + VALIDATION)
    )
    if training is None or not any(entry.is_dir() for entry in visible(training)):
        return path, None
    if test is None:
        raise ValueError(
            f"{path} has {training.name}/ but no test/, val/ or valid/ to test on. Give "
            f"{training} to have it split."
        )
    for entry in visible(path):
        counts = entry.is_dir() or is_picture(entry)
        if counts and entry not in (training, test) and entry.name.lower() not in VALIDATION:
            raise ValueError(
                f"{entry} lies beside {training.name}/ and {test.name}/; take it out of {path}."
            )
    return training, test


def _classes(folder: Path) -> list[Path]:
    entries = [entry for entry in visible(folder) if entry.is_dir()]
    if odd := [entry for entry in visible(folder) if is_picture(entry)]:
        raise ValueError(f"{odd[0]} is not in the folder of a class; move it there, or away.")
    if not entries:
        raise ValueError(f"{folder} must have a folder of pictures for each class. It has none.")
    return entries


def _labelled(folder: Path, names: tuple[str, ...]) -> list[tuple[Path, int]]:
    found = []
    for class_ in _classes(folder):
        if class_.name not in names:
            raise ValueError(
                f"{class_} is of a class without pictures to train on. Those are of "
                f"{', '.join(names)}."
            )
        label = names.index(class_.name)
        found += [(file, label) for file in _pictures(class_)]
    return found


def _pictures(folder: Path) -> list[Path]:
    files = visible(folder)
    for file in files:
        if file.is_dir():
            raise ValueError(
                f"{folder} must have pictures right in it, as the folder of a class. It has the "
                f"folder {file.name}."
            )
        if file.suffix.lower() not in PICTURES or not file.is_file():
            raise ValueError(f"{file} is no picture ({', '.join(PICTURES)}); move it away.")
    if not files:
        raise ValueError(f"{folder} has no pictures; take the folder away, or put some in.")
    return files


def _same_size(files: list[Path], size: int | None) -> list[Array]:
    found: list[Array] = []
    for file in tqdm(files, desc="reading", unit="picture", disable=None):
        pixels = _pixels(file)
        if size is not None:
            pixels = resized(torch.from_numpy(pixels)[None], size)[0].numpy()
        found.append(pixels)
        sides = [f"{p.shape[2]} x {p.shape[1]}" for p in (found[0], pixels)]
        if sides[0] != sides[1]:
            raise ValueError(
                f"Pictures must have one size. {files[0]} is {sides[0]}, {file} is {sides[1]}; "
                "give --size to bring all to one."
            )
    return found


def _same_channels(pictures: list[Array]) -> Array:
    """(N, 1, H, W) where all are grey, else (N, 3, H, W)."""
    channels = max(len(pixels) for pixels in pictures)
    found = np.empty((len(pictures), channels, *pictures[0].shape[1:]), np.uint8)
    for at, pixels in enumerate(pictures):
        found[at] = pixels
    return found


def _pixels(file: Path) -> Array:
    """(1, H, W) uint8 of a grey picture, (3, H, W) of another; upright, as its EXIF says."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError  # an extra
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{file} is a picture; reading it takes Pillow. Install it: "
            "pip install 'cheblienet[images]', or pip install pillow."
        ) from error
    try:
        # Pillow warns of large pictures and of odd EXIF.
        with warnings.catch_warnings(action="ignore"), Image.open(file, formats=FORMATS) as image:
            upright = ImageOps.exif_transpose(image)
            refusal = _refusal(upright)
            pixels = None if refusal else _converted(upright)
    except UnidentifiedImageError as error:
        raise ValueError(f"{file} is no picture, or a damaged one; take it away.") from error
    except (*DAMAGE, Image.DecompressionBombError) as error:
        raise ValueError(f"{file} can't be read as a picture: {reason(error)}.") from error
    if pixels is None:
        raise ValueError(f"{file} {refusal}")
    return pixels


def _refusal(image: "Image.Image") -> str:
    """Why a picture can't be taken; "" if it can."""
    if image.mode[0] in "IF":
        return f"must have 8 bits a channel. Its mode is {image.mode}; save it with 8."
    if image.has_transparency_data and image.convert("RGBA").getchannel("A").getextrema()[0] != 255:
        return "has transparent pixels; save it on a background."
    return ""


def _converted(image: "Image.Image") -> Array:
    if image.mode in ("1", "L"):
        return np.array(image.convert("L"))[None]
    pixels = np.array(image.convert("RGB")).transpose(2, 0, 1)
    is_grey = bool((pixels == pixels[:1]).all())
    return pixels[:1] if is_grey else pixels
