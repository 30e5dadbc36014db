"""The style sheet: text can be read on its ground, by day and by night."""

import re
from importlib.resources import files

import pytest

from cheblienet_graphs.page.page import STYLE

SHEET = (files("cheblienet_graphs.page") / STYLE).read_text(encoding="utf-8")
TEXTS = ("ink", "faint", "link", "good", "bad", "open")


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    dark, light = sorted([luminance(first), luminance(second)])
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_measured_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("night", [False, True])
def test_text_has_contrast(night: bool) -> None:
    day, dark = SHEET.split("prefers-color-scheme: dark", 1)
    colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", (dark if night else day)))
    assert colours.keys() == {*TEXTS, "ground", "panel", "line"}
    for text in TEXTS:
        for ground in ("ground", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)


def test_nothing_is_fetched() -> None:
    assert not re.search(r"url\(|@import|@font-face", SHEET)
