"""The rooms of both packages: no modules in a circle, no long files; floors are lint-imports'."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LONGEST = 400
PACKAGES = ["cheblienet_graphs", "cheblienet_models"]


def modules(package: str) -> dict[str, Path]:
    files = sorted((ROOT / package).rglob("*.py"))
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in files]
    names = [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]
    return dict(zip(names, files, strict=True))


def imports_of(module: str, known: dict[str, Path]) -> set[str]:
    """Modules of the package that a module imports, within functions too; not for types alone."""
    found: set[str] = set()
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(known[module].read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped |= {id(inner) for inner in ast.walk(node)}
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & known.keys()
            found |= inside or {str(node.module)}
    return found & known.keys() - {module}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_import_each_other(package: str) -> None:
    known = modules(package)
    graph = {name: imports_of(name, known) - {package} for name in known if name != package}
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == known.keys() - {package}


@pytest.mark.parametrize("folder", [*PACKAGES, "cli", "benchmarks", "tests"])
def test_files_stay_short(folder: str) -> None:
    lengths = {
        file.relative_to(ROOT): len(file.read_text().splitlines())
        for file in (ROOT / folder).rglob("*.py")
    }
    assert {file for file, lines in lengths.items() if lines > LONGEST} == set()
