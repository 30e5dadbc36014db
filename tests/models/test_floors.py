"""The rooms of the package: each imports from lower floors, and modules in no circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import cheblienet_models

PACKAGE = Path(cheblienet_models.__file__).parent
FLOORS = (
    {"errors"},
    {"tensors"},
    {"store"},
    {"graphs"},
    {"opening", "layers", "resampling", "symmetries"},
    {"networks", "testing"},
    {""},  # the package itself
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
LONGEST = 400


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def room_of(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def imports_of(module: str) -> set[str]:
    """Modules of the package that a module imports, wherever in its text."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= inside or {str(node.module)}
    return found & MODULES.keys()


@pytest.mark.parametrize("module", MODULES)
def test_rooms_import_from_lower_floors(module: str) -> None:
    own = room_of(module)
    for imported in imports_of(module):
        assert room_of(imported) == own or FLOOR[room_of(imported)] < FLOOR[own], imported


def test_no_modules_import_each_other() -> None:
    order = list(TopologicalSorter({name: imports_of(name) for name in MODULES}).static_order())
    assert set(order) == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_files_stay_short(module: str) -> None:
    assert len(MODULES[module].read_text().splitlines()) <= LONGEST


def test_public_names_are_where_they_were() -> None:
    from cheblienet_models.resampling import LatLonToVertices, VerticesToLatLon, regular_grid
    from cheblienet_models.testing import assert_equivariant

    assert assert_equivariant.__module__ == "cheblienet_models.testing"
    for thing in (LatLonToVertices, VerticesToLatLon, regular_grid):
        assert getattr(cheblienet_models, thing.__name__) is thing
    for name in cheblienet_models.__all__:
        assert getattr(cheblienet_models, name) is not None
