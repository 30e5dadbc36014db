"""The site of docs/: every public name is on it, and faults fail its build."""

import json
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

ROOT = Path(__file__).parents[1]
MODULES = ["cheblienet_graphs", "cheblienet_graphs.plot", "cheblienet_models"]
LEFT_OUT = shutil.ignore_patterns("_build", "_gallery", "__pycache__")

FAULTY_MODULE = '''
"""A module."""
__all__ = ["nameless"]

def nameless() -> None: ...
'''
FAULTY_PAGE = """
# Faulty

[A page](nowhere.md) and [a file](../nowhere.py).

```{eval-rst}
.. public:: faulty_module

:py:class:`cheblienet_graphs.Nowhere`
```
"""
BUILD = """
import contextlib, io, json, sys
from sphinx.cmd.build import main
for options in json.load(sys.stdin):
    with contextlib.redirect_stderr(io.StringIO()) as errors:
        code = main(options)
    print(json.dumps([code, errors.getvalue()]))
"""
Build = tuple[Path, int, str]


def pages_in(folder: Path) -> Path:
    """A copy of docs/ beside links to the rest, as Sphinx writes the gallery into its sources."""
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name != "docs":
            (folder / path.name).symlink_to(path)
    return Path(shutil.copytree(ROOT / "docs", folder / "docs", ignore=LEFT_OUT))


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> list[Build]:
    """Pages, code and errors of strict builds, of the site and of one with a faulty page alone.

    In one process, as both import torch, and without the scripts of the gallery, which have tests
    of their own. Of the many pages furo takes long, as each of them lists all.
    """
    folder = tmp_path_factory.mktemp("sites")
    whole, faulty = (pages_in(folder / name) for name in ("whole", "faulty"))
    for path in [*faulty.rglob("*.md"), *(faulty / "gallery").glob("*.py")]:
        path.unlink()
    (faulty / "index.md").write_text("# Index\n\n```{toctree}\nfaulty\n_gallery/index\n```\n")
    (faulty / "faulty.md").write_text(FAULTY_PAGE)
    (faulty / "_ext/faulty_module.py").write_text(FAULTY_MODULE)
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-b", "html"]
    themes = {whole: ["-D", "html_theme=basic"], faulty: []}
    given = [[*options, *theme, str(p), str(p / "_build")] for p, theme in themes.items()]
    command = [sys.executable, "-c", BUILD]
    printed = subprocess.check_output(command, text=True, input=json.dumps(given)).splitlines()
    return [(pages, *json.loads(line)) for pages, line in zip(themes, printed, strict=True)]


@pytest.mark.slow
def test_it_builds_and_has_every_public_name(builds: list[Build]) -> None:
    pages, code, errors = builds[0]
    assert (errors, code) == ("", 0)
    inventory = InventoryFile.loads((pages / "_build/objects.inv").read_bytes(), uri="").data
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {f"{package}.{name}" for package in MODULES for name in import_module(package).__all__}
    assert public <= known
    assert {"GraphSpec.sha256", "build"} <= {n.removeprefix("cheblienet_graphs.") for n in known}


@pytest.mark.slow
def test_faults_fail_it(builds: list[Build]) -> None:
    _, code, errors = builds[1]
    assert code == 1
    assert all("faulty" in line for line in errors.splitlines() if "WARNING" in line)
    for complaint in (
        "nowhere.md",
        "nowhere.py",
        "faulty_module.nameless has no docstring",
        "cheblienet_graphs.Nowhere",
    ):
        assert complaint in errors
