"""Classical reduced Gaussian grids by name: points of each latitude, from the pole to the equator.

They are those of ECMWF's archives, N80 of ERA-40, N128 of ERA-Interim, N320 of ERA5. Every GRIB
file on one of them has its points as `pl`.
"""

import re

from cheblienet_graphs.errors import SpecError
from cheblienet_graphs.limits import CLASSICAL_GRIDS

HALVES = {
    "N32": """
        20 27 36 40 45 50 60 64 72 75 80 90x2 96 100 108x2 120x3 128x12
    """,
    "N48": """
        20 25 36 40 45 50 60x2 72 75 80 90 96 100 108 120x3 128 135 144x2 160x5 180x5 192x16
    """,
    "N80": """
        18 25 36 40 45 54 60 64 72x2 80 90 96 100 108 120x2 128 135 144x2 150 160x2 180x3 192x2
        200x2 216x3 225x2 240x3 256x4 288x9 300x4 320x24
    """,
    "N128": """
        18 25 36 40 45 50 60 64 72x2 80 90x2 100 108 120x2 125 128 144x2 150 160x2 180x3 192x2
        200 216x3 225 240x3 250x2 256 270x2 288x3 300x2 320x4 324 360x7 375x4 384x2 400x4 405
        432x7 450x5 480x10 486x3 500x7 512x26
    """,
    "N160": """
        18 25 36 40 45 50 60 64 72x2 80 90x2 96 108 120x2 125 128 135 144 150 160x2 180x3 192x2
        200 216x2 225x2 240x2 243 250 256 270x2 288x3 300x2 320x4 324 360x6 375x3 384x2 400x3
        405 432x5 450x4 480x7 500x5 512x2 540x8 576x10 600x9 640x44
    """,
    "N320": """
        18 25 36 40 45 50 60 64 72x2 75 81 90 96 100 108 120x2 125 135 144x2 150 160 180x3 192x2
        200 216x3 225 240x3 250 256 270x2 288x3 300x2 320x3 324 360x6 375x2 384x2 400x2 405
        432x4 450x3 480x5 486 500x3 512x2 540x5 576x6 600x4 640x7 648x2 675x4 720x9 729 750x4
        768x4 800x6 810x2 864x11 900x8 960x14 972x2 1000x8 1024x6 1080x14 1125x14 1152x9 1200x18
        1215x7 1280x74
    """,
    "N640": """
        18 25 32 40 45 50 60x2 72x2 75 81 90x2 96 100 108 120x2 125 135 144 150 160x2 180x3
        192x2 200 216x3 225 240x2 243 250 256 270x2 288x3 300x2 320x3 360x6 375x2 384x2 400x3
        432x4 450x3 480x5 486 500x2 512x2 540x5 576x5 600x4 640x7 648 675x4 720x8 729 750x4
        768x3 800x5 810x2 864x8 900x6 960x11 972x2 1000x5 1024x4 1080x9 1125x8 1152x5 1200x8
        1215x3 1280x12 1296x2 1350x10 1440x17 1458x4 1500x8 1536x7 1600x13 1620x3 1728x23
        1800x15 1875x17 1920x11 1944x5 2000x14 2025x6 2048x7 2160x30 2187x8 2250x20 2304x18
        2400x37 2430x14 2500x41 2560x100
    """,
}
"""Rows of one half by name; 90x2 stands for two rows of 90 points."""


def classical_rows(size: object) -> tuple[int, ...] | None:
    """(2 N) points of each row, north to south; None for anything but N with a number.

    Args:
        size: a name such as "N32", or anything else.

    Raises:
        SpecError: the points of that grid are not known here.
    """
    name = size.strip().upper() if isinstance(size, str) else ""
    if not re.fullmatch(r"N[0-9]{1,9}", name):
        return None
    if name not in HALVES:
        accepted = f"one of {', '.join(CLASSICAL_GRIDS)}, or O or F with a number"
        remedy = "Give the points of each latitude of another one, as GRIB files have them: `pl`."
        raise SpecError("gaussian", accepted, size, remedy)
    half: list[int] = []
    for word in HALVES[name].split():
        count, _, times = word.partition("x")
        half += [int(count)] * int(times or 1)
    return (*half, *reversed(half))


def classical_name(rows: tuple[int, ...]) -> str | None:
    """The name of the grid with these rows; None where it has none.

    Args:
        rows: (2 N) points of each row.
    """
    name = f"N{len(rows) // 2}"
    return name if name in HALVES and rows == classical_rows(name) else None
