"""The rooms: floors as their page has them, no circles, no long files, who loads what.

Floors themselves are lint-imports'.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Collection
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from programs import printed_by

import cheblienet_graphs

ROOT = Path(__file__).parents[1]
LONGEST = 400
PAGE = (ROOT / "docs/explanation/architecture.md").read_text()
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
FLOORS = {
    contract["containers"][0]: [floor.split(" | ") for floor in contract["layers"]]
    for contract in TOOLS["importlinter"]["contracts"]
    if contract["type"] == "layers"
}


NUMPY_FLOOR = {"errors", "inputs", "limits", "manifolds", "samplings", "spec", "typing", "weights"}


def modules(package: str) -> dict[str, Path]:
    files = sorted((ROOT / package).rglob("*.py"))
    parts = [file.relative_to(ROOT).with_suffix("").parts for file in files]
    names = [".".join(p[:-1] if p[-1] == "__init__" else p) for p in parts]
    return dict(zip(names, files, strict=True))


def imports_of(file: Path, known: Collection[str] = ()) -> set[str]:
    """Modules that a module imports, within functions too; not for types alone."""
    imported: set[str] = set()
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            skipped |= {id(inner) for inner in ast.walk(node)}
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & set(known)
            imported |= inside or {str(node.module)}
    return imported


@pytest.mark.parametrize("package", FLOORS)
def test_the_page_has_the_floors(package: str) -> None:
    table = PAGE.partition(f"Of `{package}`")[2].partition("| rooms |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1] for line in table.splitlines()[2:]]
    assert [re.findall(r"`(\w+)`", row) for row in rows] == FLOORS[package]


def test_every_room_is_installed() -> None:
    """An editable install has them all, listed or not: only a user's would miss one."""
    rooms = {
        ".".join(f.parent.relative_to(ROOT).parts) for p in FLOORS for f in (ROOT / p).rglob("*.py")
    }
    assert {*TOOLS["setuptools"]["packages"]} == rooms | {"cheblienet_cli"}


@pytest.mark.parametrize("package", FLOORS)
def test_no_modules_import_each_other(package: str) -> None:
    known = modules(package)
    rooms = known.keys() - {package}
    graph = {name: imports_of(known[name], known) & rooms - {name} for name in rooms}
    assert set(TopologicalSorter(graph).static_order()) == rooms


@pytest.mark.parametrize("folder", [*FLOORS, "cli", "benchmarks", "tests"])
def test_files_stay_short(folder: str) -> None:
    files = (ROOT / folder).rglob("*.py")
    assert [f for f in files if len(f.read_text().splitlines()) > LONGEST] == []


def test_training_side_imports_only_torch_numpy_and_the_standard_library() -> None:
    ours = {"cheblienet_models", "cheblienet_graphs"}  # the import contracts say what of these
    allowed = {"torch", "numpy"} | ours | sys.stdlib_module_names
    for name, file in modules("cheblienet_models").items():
        rooms = (".resampling.", ".fields.")  # as the import contracts say
        more = {"scipy"} if any(room in name for room in rooms) else set()
        more |= {"torch_geometric"} if name.endswith(".graphs.exports") else set()
        assert {imported.partition(".")[0] for imported in imports_of(file)} <= allowed | more, name


def modules_after(*steps: str) -> list[set[str]]:
    """What is loaded after each of the steps, which one process takes."""
    program = "\n".join(f"{step}; print('loaded', *sys.modules)" for step in steps)
    printed = printed_by("-c", f"import sys; {program}").splitlines()
    return [set(line.split()) for line in printed if line.startswith("loaded ")]


def test_training_side_loads_only_torch_and_numpy(store: Path) -> None:
    opened, edges = modules_after(
        f"import cheblienet_models; p = cheblienet_models.open_store({str(store)!r})['torus']",
        "from cheblienet_models.graphs.edges import edges_of_graph; fine = p.levels[0]; "
        "edges_of_graph(fine.stored.spec, fine.operator(), fine.coordinates)",
    )
    # Nor the compiler, which takes as long as torch itself.
    others = {"zarr", "scipy", "click", "pykeops", "torch._dynamo"}
    assert "torch" in opened
    assert (others | {"cheblienet_cli"}).isdisjoint(opened)
    of_graphs = {name.split(".")[1] for name in opened if name.startswith("cheblienet_graphs.")}
    assert of_graphs == {"csr", "search", "store", *NUMPY_FLOOR}
    searches = {name for name in opened if name.startswith("cheblienet_graphs.search.")}
    assert searches == {"cheblienet_graphs.search.choice"}  # names of engines
    assert others.isdisjoint(edges)


def test_commands_load_what_they_need(tmp_path: Path, store: Path) -> None:
    commands = (
        *(f"{command}--help" for command in ("", "build ", "build se2 ")),
        f"build se2 --size 12 --store {tmp_path / 'g.zarr'} --quiet",
        f"build s2 --points 60 --weights voronoi --store {tmp_path / 'g.zarr'} --quiet",
        f"inspect torus --store {store} --json",
    )
    run = "from cheblienet_cli.main import run; assert run({!r}) == 0"
    loaded = modules_after(*(run.format(command.split()) for command in commands))
    *helped, lattice, cells, report = loaded
    for after in helped:
        assert {"numpy", "scipy", "zarr", "torch", "tqdm"}.isdisjoint(after)
    assert "scipy.sparse" in lattice
    assert {"scipy.sparse.linalg", "scipy.sparse.csgraph"}.isdisjoint(lattice)
    # What is said of a build takes no eigenproblem.
    assert "cheblienet_graphs.spectrum.numeric" not in lattice
    assert "scipy.spatial" in cells
    assert {"torch", "pykeops"}.isdisjoint(cells)
    assert "cheblienet_graphs.report.inspect" in report
    assert {"matplotlib", "cheblienet_graphs.page", "html"}.isdisjoint(report)


def test_lazy_package_knows_its_names() -> None:
    assert set(cheblienet_graphs.__all__) == set(cheblienet_graphs._PUBLIC)
    assert all(getattr(cheblienet_graphs, name) for name in cheblienet_graphs.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        cheblienet_graphs.nonsense  # noqa: B018


def test_the_citation_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [cheblienet_graphs.__version__]


def test_the_paper_cites_what_its_bibliography_has() -> None:
    cited = set(re.findall(r"@(\w+\d{4})", (ROOT / "paper.md").read_text()))
    entries = re.findall(r"^@\w+\{(\w+),$", (ROOT / "paper.bib").read_text(), re.MULTILINE)
    assert cited == set(entries)
    assert len(entries) == len(cited)
