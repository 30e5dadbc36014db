"""Folders of classes with pictures in them, through Pillow, which is an extra."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif")
FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "GIF")
"""What Pillow may take a file for; by itself it would have Ghostscript run PostScript."""
TRAINING = ("train", "training")
TEST = ("test", "testing", "val", "valid", "validation")
LEFT_ALONE = ("thumbs.db",)


def visible(folder: Path) -> list[Path]:
    """What lies in a folder, by name, without hidden files and what Windows leaves there."""
    entries = sorted(folder.iterdir())
    return [e for e in entries if e.name[0] != "." and e.name.lower() not in LEFT_ALONE]


def class_folders(folder: Path) -> list[Path]:
    """The folders in it; notes beside them don't count, pictures do."""
    entries = visible(folder)
    if odd := [entry for entry in entries if entry.suffix.lower() in PICTURES]:
        raise ValueError(f"{odd[0]} is not in the folder of a class; move it there, or away.")
    return [entry for entry in entries if entry.is_dir()]


def own_split(path: Path) -> tuple[Path, Path | None]:
    """The folders to train and to test on; all of it and None where there are none.

    A folder is for training by its name and because it has folders: "train" may be a class.
    Folders for validation count where there is none for tests; else they are left alone.
    """
    folders = {entry.name.lower(): entry for entry in visible(path) if entry.is_dir()}
    training, test = (
        next((folders[name] for name in names if name in folders), None)
        for names in (TRAINING, TEST)
    )
    if training is None or not class_folders(training):
        return path, None
    if test is None or not folders.keys() <= {*TRAINING, *TEST}:
        raise ValueError(
            f"{path} must have train/ and test/, val/ or valid/ alone. Got {', '.join(folders)}; "
            f"give {training} to have it split."
        )
    return training, test


def pixels_of(file: Path) -> npt.NDArray[Any]:
    """(1, H, W) uint8 of a gray picture, (3, H, W) of another; upright, as its EXIF says."""
    try:
        from PIL import Image, ImageOps  # an extra
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{file} is a picture; reading it takes Pillow. Install it: "
            "pip install 'cheblienet[images]', or pip install pillow."
        ) from error
    try:
        # Pillow warns of large pictures and of odd EXIF.
        with warnings.catch_warnings(action="ignore"), Image.open(file, formats=FORMATS) as image:
            upright = ImageOps.exif_transpose(image)
            wide = upright.mode[0] in "IF"
            clear = upright.convert("RGBA").getchannel("A").getextrema()[0] != 255
            pixels = np.array(upright.convert("RGB")).transpose(2, 0, 1)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{file} is no picture, or a damaged one; take it away.") from error
    if wide or clear:
        raise ValueError(f"{file} must have 8 bits a channel and no transparent pixels.")
    return pixels[:1] if (pixels == pixels[:1]).all() else pixels
