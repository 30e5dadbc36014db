"""Scripts of benchmarks/, which import those beside them by their names."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "benchmarks"
FOLDERS = [str(FOLDER / part) for part in ("", "accuracy", "robustness")]


def loaded(*names: str) -> list[ModuleType]:
    sys.path[:0] = FOLDERS
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in FOLDERS]
