"""The site of docs/: every public name is on it, and faults fail its build."""

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


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A copy of docs/ beside links to the rest, as Sphinx writes the gallery into its sources."""
    for path in ROOT.iterdir():
        if path.name != "docs":
            (tmp_path / path.name).symlink_to(path)
    return Path(shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=LEFT_OUT))


def built(pages: Path, builder: str = "html") -> subprocess.CompletedProcess[str]:
    """The strict build, without the scripts of the gallery, which have tests of their own."""
    options = "-m sphinx -W --keep-going -q -D plot_gallery=0 -b"
    command = [sys.executable, *options.split(), builder, pages, pages / "_build"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_builds_and_has_every_public_name(pages: Path) -> None:
    done = built(pages)
    assert (done.stderr, done.returncode) == ("", 0)
    inventory = InventoryFile.loads((pages / "_build/objects.inv").read_bytes(), uri="").data
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {f"{package}.{name}" for package in MODULES for name in import_module(package).__all__}
    assert public <= known
    assert {"GraphSpec.sha256", "build"} <= {n.removeprefix("cheblienet_graphs.") for n in known}


@pytest.mark.slow
def test_faults_fail_it(pages: Path) -> None:
    """Of a site that has the faulty page alone."""
    for path in [*pages.rglob("*.md"), *(pages / "gallery").glob("*.py")]:
        path.unlink()
    (pages / "index.md").write_text("# Index\n\n```{toctree}\nfaulty\n_gallery/index\n```\n")
    (pages / "faulty.md").write_text(FAULTY_PAGE)
    (pages / "_ext/faulty_module.py").write_text(FAULTY_MODULE)
    done = built(pages, "dummy")
    assert done.returncode == 1
    assert all("faulty" in line for line in done.stderr.splitlines() if "WARNING" in line)
    for complaint in (
        "nowhere.md",
        "nowhere.py",
        "faulty_module.nameless has no docstring",
        "cheblienet_graphs.Nowhere",
    ):
        assert complaint in done.stderr
