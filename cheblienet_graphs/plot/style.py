"""Colours and letters of all figures.

Ink is one colour that stands for the text's: the report replaces it in SVG by `currentColor`, so a
figure is as readable in the dark as on paper. Grounds are transparent there for the same reason.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl

INK = "#1f2328"
"""Text, axes and marks; the report makes it the colour of its text."""
FAINT = "#8b949e"
"""Grids and edges behind; readable on white and on black."""
SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Okabe and Ito's colours, told apart by readers of all kinds of colour vision; without their
yellow, which white paper swallows."""
SEQUENTIAL = "cividis"
"""Perceptually uniform, the same to the colour-blind."""
DIVERGING = "RdBu_r"
"""For signed values, 0 in its middle; always with limits symmetric about 0."""
CYCLIC = "twilight"
"""For angles."""

_SETTINGS = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "svg.fonttype": "path",
    "svg.hashsalt": "cheblienet",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
}


@contextmanager
def style() -> Iterator[None]:
    """Draw within this in the colours and letters of the project; the reader's own come back."""
    with mpl.rc_context(_SETTINGS):
        yield
