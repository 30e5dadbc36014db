"""The site of docs/: it builds without a warning, and every public name is on it."""

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


@pytest.mark.slow
def test_it_builds_and_has_every_public_name(tmp_path: Path) -> None:
    """From a copy of docs/ beside links to the rest: Sphinx writes the gallery into its sources.

    Without the scripts of the gallery, which have tests of their own. Of the many pages furo takes
    long, as each of them lists all.
    """
    for path in ROOT.iterdir():
        if path.name != "docs":
            (tmp_path / path.name).symlink_to(path)
    pages = Path(shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=LEFT_OUT))
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0", "-D", "html_theme=basic"]
    command = [sys.executable, "-m", "sphinx", *options, str(pages), str(pages / "_build")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    inventory = InventoryFile.loads((pages / "_build/objects.inv").read_bytes(), uri="").data
    known = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    public = {f"{package}.{name}" for package in MODULES for name in import_module(package).__all__}
    assert public <= known
    assert {"GraphSpec.sha256", "build"} <= {n.removeprefix("cheblienet_graphs.") for n in known}
