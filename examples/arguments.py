"""What the examples take on their command lines."""

import argparse
import os
import tempfile
from pathlib import Path


def duration(text: str) -> float:
    """A time of diffusion, from 0."""
    time = float(text)
    if not 0 <= time < float("inf"):
        raise argparse.ArgumentTypeError(f"must be at least 0 and finite. Got {text}.")
    return time


def positive(text: str) -> int:
    """A number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1. Got {text}.")
    return int(text)


def new_picture(text: str) -> Path:
    """Where a picture can be written."""
    from PIL import Image  # an extra that volumes do without

    file = Path(text)
    kind = Image.registered_extensions().get(file.suffix.lower())
    if kind not in Image.SAVE or not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be a picture, as .png, in a folder. Got {text}.")
    return _writable(file)


def new_model(text: str) -> Path:
    """Where a trained network can be written."""
    file = Path(text)
    if file.suffix != ".pt" or not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"must be a .pt file in a folder. Got {text}.")
    return _writable(file)


def _writable(file: Path) -> Path:
    """The file, if it can be written; it is written at the end of long work."""
    try:
        if file.exists() and not (file.is_file() and os.access(file, os.W_OK)):
            raise argparse.ArgumentTypeError(f"must be a file that can be written. Got {file}.")
        with tempfile.TemporaryFile(dir=file.parent):
            return file
    except OSError as error:
        why = f"{file} can't be written: {error.strerror}"
        raise argparse.ArgumentTypeError(
            f"must be in a folder where one can write. {why}."
        ) from None


def printable(text: object) -> str:
    """Text of files and folders, without what would move a terminal's cursor or color it."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))
