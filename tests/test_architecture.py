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


def test_the_picture_is_of_both_packages() -> None:
    assert "](architecture.svg)" in PAGE
    picture = ET.parse(ROOT / "docs/explanation/architecture.svg").getroot()
    words = " ".join(picture.itertext())
    assert all(package in words for package in FLOORS)
