"""Pictures that the examples are given, read through Pillow."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

try:
    from PIL import Image as Image
    from PIL import ImageOps as ImageOps
    from PIL import UnidentifiedImageError
except ModuleNotFoundError:
    missing = "Error: pictures need Pillow, which is not installed. Install it: "
    raise SystemExit(f"{missing}pip install 'cheblienet[images]'.") from None

FORMATS = ("PNG", "TIFF", "BMP", "GIF", "JPEG", "PPM", "WEBP")
"""What Pillow may take a file for: others it would hand to other programs, as PostScript."""
SUFFIXES = {end for end, form in Image.registered_extensions().items() if form in FORMATS}
FULL = {"PNG", "PPM"}
"""Formats whose pictures of mode I are of 16 bits."""


def read_picture(file: Path, mode: str, *, upright: bool = False) -> Any:
    """A picture of a file, in a mode of Pillow's; of 16 bits a pixel the upper 8.

    Args:
        file: a picture of one of FORMATS.
        mode: "RGB" or "L".
        upright: turned as its EXIF data say.

    Raises:
        ValueError: it can't be read, or nothing says which of its values are black and white.
    """
    if not file.is_file():  # reading a pipe would wait
        raise ValueError(f"{file} {'is not a file' if file.exists() else 'does not exist'}.")
    try:
        with warnings.catch_warnings(action="ignore"), Image.open(file, formats=FORMATS) as opened:
            known = opened.format in FULL
            opened.load()
            image = ImageOps.exif_transpose(opened) if upright else opened.copy()
    except UnidentifiedImageError:
        instead = f"Remove it, or save it as one of {', '.join(FORMATS)}."
        raise ValueError(f"{file} is not a picture that Pillow can read. {instead}") from None
    except Image.DecompressionBombError:
        raise ValueError(f"{file} has too many pixels. Save it smaller.") from None
    except Exception as error:
        why = getattr(error, "strerror", None) or error or type(error).__name__
        raise ValueError(f"{file} can't be read: {why}.") from error
    if image.mode.startswith("I;16") or (image.mode == "I" and known):
        image = Image.fromarray(np.uint8(np.asarray(image, np.int64).clip(0, 65535) // 256))
    if image.mode in {"I", "F"}:
        raise ValueError(
            f"{file} has 32 bits a pixel (mode {image.mode}), and nothing says which values are "
            "black and white. Save it with 8 or 16 bits."
        )
    try:
        return image.convert(mode)
    except ValueError as error:
        raise ValueError(f"{file} can't be read as {mode}: {error}.") from None
