"""Who may import whom, and what stays out of a process that does not need it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import cheblienet_models

PACKAGE = Path(cheblienet_models.__file__).parent


def modules_after(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_training_side_loads_only_torch_and_numpy(store: Path) -> None:
    code = f"import cheblienet_models; cheblienet_models.open_store({str(store)!r})['torus']"
    loaded = modules_after(code)
    assert {"zarr", "scipy", "click", "pykeops"}.isdisjoint(loaded)
    assert {"cheblienet_graphs", "cheblienet_cli"}.isdisjoint(loaded)
    assert "torch._dynamo" not in loaded  # the compiler, which takes as long as torch itself


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: file.name)
def test_training_side_imports_only_torch_numpy_and_the_standard_library(file: Path) -> None:
    allowed = {"torch", "numpy", "cheblienet_models"} | sys.stdlib_module_names
    if file.parent.name == "resampling":
        allowed = allowed | {"scipy"}  # where it is constructed, as the import contract says
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = [str(node.module)]
        else:
            continue
        assert {name.partition(".")[0] for name in names} <= allowed


def test_a_stencil_build_does_not_load_torch(tmp_path: Path) -> None:
    run = "from cheblienet_cli.main import run; "
    arguments = ["build", "se2", "--size", "12", "--store", str(tmp_path / "g.zarr"), "--quiet"]
    loaded = modules_after(f"{run}assert run({arguments!r}) == 0")
    assert "scipy.sparse" in loaded
    assert {"torch", "pykeops", "matplotlib"}.isdisjoint(loaded)
    assert "cheblienet_graphs.spectrum.numeric" not in loaded  # what it says takes no eigenproblem


def test_a_build_of_voronoi_cells_does_not_load_torch(tmp_path: Path) -> None:
    run = "from cheblienet_cli.main import run; "
    arguments = ["build", "s2", "--points", "60", "--weights", "voronoi", "--quiet"]
    arguments += ["--store", str(tmp_path / "g.zarr")]
    loaded = modules_after(f"{run}assert run({arguments!r}) == 0")
    assert "scipy.spatial" in loaded
    assert {"torch", "pykeops"}.isdisjoint(loaded)


def test_help_loads_nothing_heavy() -> None:
    run = "from cheblienet_cli.main import run; "
    for arguments in (["--help"], ["build", "--help"], ["build", "se2", "--help"]):
        loaded = modules_after(f"{run}assert run({arguments!r}) == 0")
        assert {"numpy", "scipy", "zarr", "torch", "tqdm"}.isdisjoint(loaded)


def test_lazy_package_knows_its_names() -> None:
    import cheblienet_graphs

    for name in cheblienet_graphs.__all__:
        assert getattr(cheblienet_graphs, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        cheblienet_graphs.nonsense  # noqa: B018
    assert set(cheblienet_graphs.__all__) == set(cheblienet_graphs._PUBLIC)
