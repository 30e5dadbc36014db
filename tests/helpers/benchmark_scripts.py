"""Scripts of benchmarks/, which import those beside them by their names, and pictures for them."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[2] / "benchmarks"
FOLDERS = [str(FOLDER / part) for part in ("", "accuracy", "robustness")]


def loaded(*names: str) -> list[ModuleType]:
    sys.path[:0] = FOLDERS
    try:
        return [importlib.import_module(name) for name in names]
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in FOLDERS]


def one_error(message: str) -> str:
    """The only line of an error, without a traceback beside it."""
    assert message.startswith("Error: ")
    assert message.count("\n") == 1
    return message


def two_classes(count: int, side: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A bright or a dark square on gray, unmistakable: (N, H, W) and labels."""
    labels = np.arange(count) % 2
    images = np.random.default_rng(1).integers(100, 140, (count, side, side))
    middle = slice(side // 4, 3 * side // 4)
    images[:, middle, middle] = np.where(labels, 250, 5)[:, None, None]
    return images.astype(np.uint8), labels


def npz(file: Path, **arrays: Any) -> Path:
    np.savez(file, **arrays)
    return file
