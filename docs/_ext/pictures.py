"""Figures of the gallery: in the project's colors and letters, on white on dark pages, too."""

import matplotlib as mpl

from cheblienet_graphs.plot.figure import style


def dress(_gallery: dict[str, object], _script: str) -> None:
    """Set matplotlib up before each script."""
    with style():
        settings = dict(mpl.rcParams)
    mpl.rcParams.update(settings)
    mpl.rcParams["figure.facecolor"] = mpl.rcParams["savefig.facecolor"] = "white"
