"""Grey images, through Pillow, which is an extra."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cheblienet_graphs.errors import CheblienetError, InputError
from cheblienet_graphs.inputs.files import reading
from cheblienet_graphs.inputs.inside import Values

if TYPE_CHECKING:
    from PIL import Image

IMAGES = (".png", ".tif", ".tiff", ".bmp", ".gif", ".jpg", ".jpeg", ".pgm", ".pbm", ".webp")
FORMATS = ("PNG", "TIFF", "BMP", "GIF", "JPEG", "PPM", "WEBP")
"""What Pillow may take a file for. By itself it goes by the contents alone, and hands PostScript to
Ghostscript, which runs it, whatever the file is called."""
FORM = "an image"
GREY = {"1", "L", "I;16", "I;16B", "I;16L", "I;16N"}
TRANSPARENT = {"LA", "La", "PA", "RGBA", "RGBa"}
REMEDY = 'Save it as 8-bit grey, as PIL.Image.open(FILE).convert("L") does'


def read_image(file: Path) -> Values:
    """The pixels of a grey image of one frame.

    Returns:
        (height, width) bool, uint8 or uint16, the top row first.

    Raises:
        InputError: it can't be read, is in colour, transparent, of several frames, or of another
            depth than 1, 8 or 16 bits.
        CheblienetError: Pillow is not installed.
    """
    try:
        from PIL import Image, UnidentifiedImageError  # an extra
    except ModuleNotFoundError as error:
        raise CheblienetError(
            f"{file} is an image; reading it needs Pillow, which is not installed "
            f"({error.name}). Install it: pip install 'cheblienet[images]', or pip install pillow."
        ) from error
    with reading(file, FORM), warnings.catch_warnings():
        # Beyond a limit Pillow warns, beyond twice as much it refuses; the latter is enough.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        try:
            with Image.open(file, formats=FORMATS) as image:
                return _grey(image, file)
        except Image.DecompressionBombError as error:
            raise InputError(f"{file} is too large for an image; save it as .npy.") from error
        except UnidentifiedImageError as error:
            raise InputError(f"{file} is no image, or a damaged one.") from error


def _grey(image: "Image.Image", file: Path) -> Values:
    frames: Any = getattr(image, "n_frames", 1)
    if frames != 1:
        raise InputError(f"{file} must have one frame. Got {frames}; save one as its own file.")
    if image.mode in TRANSPARENT or "transparency" in image.info:
        raise InputError(f"{file} has transparent pixels (mode {image.mode}). {REMEDY}.")
    if image.mode == "P":
        colours = np.asarray(image.convert("RGB"))
        if (colours == colours[..., :1]).all():
            return np.asarray(colours[..., 0])
    if image.mode not in GREY:
        what = "is not of 8 bits" if image.mode in {"I", "F"} else "has colours"
        raise InputError(f"{file} {what} (mode {image.mode}). {REMEDY}.")
    return np.asarray(image)
