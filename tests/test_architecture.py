"""The rooms that docs/explanation/architecture.md lists, against the floors that are checked."""

import re
import tomllib
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/explanation/architecture.md").read_text()
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
SVG = "{http://www.w3.org/2000/svg}"
FLOORS = {
    contract["containers"][0]: [floor.split(" | ") for floor in contract["layers"]]
    for contract in CONTRACTS
    if contract["type"] == "layers"
}


@pytest.mark.parametrize("package", FLOORS)
def test_the_page_has_the_floors(package: str) -> None:
    table = PAGE.partition(f"Of `{package}`")[2].partition("| rooms |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert [re.findall(r"`(\w+)`", row) for row in rows] == FLOORS[package]


def test_the_picture_is_of_both_packages_and_no_arrow_hangs() -> None:
    assert "](architecture.svg)" in PAGE
    picture = ET.parse(ROOT / "docs/explanation/architecture.svg").getroot()
    words = " ".join(picture.itertext())
    assert all(package in words for package in FLOORS)
    boxes = [
        tuple(float(rect.get(side, "nan")) for side in ("x", "y", "width", "height"))
        for rect in picture.iter(f"{SVG}rect")
        if rect.get("class") in {"room", "store"}
    ]
    ways = [path.get("d", "") for path in picture.iter(f"{SVG}path") if path.get("class") == "way"]
    assert len(ways) >= len(boxes)
    for way in ways:
        begin, *_, end = _corners(way)
        assert _box_at(begin, boxes) is not None
        assert _box_at(end, boxes) is not None
        assert _box_at(begin, boxes) != _box_at(end, boxes)


def _corners(way: str) -> list[tuple[float, float]]:
    """The points of a path of horizontal and vertical lines."""
    steps = re.findall(r"([MHV])([\d.]+)(?: ([\d.]+))?", way)
    x, y = float(steps[0][1]), float(steps[0][2])
    corners = [(x, y)]
    for letter, value, _ in steps[1:]:
        x, y = (float(value), y) if letter == "H" else (x, float(value))
        corners.append((x, y))
    return corners


def _box_at(point: tuple[float, float], boxes: list[tuple[float, ...]]) -> int | None:
    """The box on whose side a point lies, to a pixel."""
    for index, (left, top, width, height) in enumerate(boxes):
        right, bottom = left + width, top + height
        near = left - 1 <= point[0] <= right + 1 and top - 1 <= point[1] <= bottom + 1
        inside = left + 1 < point[0] < right - 1 and top + 1 < point[1] < bottom - 1
        if near and not inside:
            return index
    return None
