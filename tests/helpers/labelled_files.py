"""Files of labelled pictures, written from the descriptions of their formats."""

import gzip
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "accuracy"
RNG = np.random.default_rng(0)


def loaded(name: str) -> ModuleType:
    """A script of the benchmarks, which imports those beside it by their names."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


pictures = loaded("pictures")


def grey(count: int, height: int = 4, width: int = 5) -> np.ndarray:
    return RNG.integers(0, 256, (count, height, width), dtype=np.uint8)


def idx(file: Path, values: np.ndarray) -> Path:
    sides = b"".join(side.to_bytes(4, "big") for side in values.shape)
    contents = bytes([0, 0, 8, values.ndim]) + sides + values.astype(np.uint8).tobytes()
    file.write_bytes(gzip.compress(contents) if file.suffix == ".gz" else contents)
    return file


def mnist(
    folder: Path, images: np.ndarray, labels: Any, begins: str = "", name: str = "{}-idx{}-ubyte"
) -> Path:
    folder.mkdir(exist_ok=True)
    idx(folder / (begins + name.format("labels", 1)), np.array(labels))
    return idx(folder / (begins + name.format("images", 3)), images)


def two_classes(count: int, side: int = 8, channels: int = 0) -> tuple[np.ndarray, list[int]]:
    """A bright or a dark square on grey, unmistakable: (N, H, W[, C]) and labels."""
    generator = np.random.default_rng(1)
    labels = [number % 2 for number in range(count)]
    shape = (count, side, side, *([channels] if channels else []))
    images = generator.integers(100, 140, shape)
    middle = slice(side // 4, 3 * side // 4)
    for image, label in zip(images, labels, strict=True):
        image[middle, middle] = 250 if label else 5
    return images.astype(np.uint8), labels


def npz(file: Path, **arrays: Any) -> Path:
    np.savez(file, **arrays)
    return file


def refusal(path: Path, size: int | None = None) -> str:
    with pytest.raises(ValueError, match=r".") as caught:
        pictures.read(path, size)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


def cifar(file: Path, labels: np.ndarray, pixels: np.ndarray) -> Path:
    """Records of labels (n, 1 or 2), then red, green and blue of pixels (n, 32, 32, 3)."""
    records = [
        bytes(label.tolist()) + b"".join(picture[..., c].tobytes() for c in range(3))
        for label, picture in zip(labels, pixels, strict=True)
    ]
    file.write_bytes(b"".join(records))
    return file


def stl(folder: Path, part: str, pixels: np.ndarray, labels: list[int]) -> None:
    """Pixels (n, 96, 96, 3): of each picture and colour, one column after the other."""
    columns = [
        picture[:, x, c].tobytes() for picture in pixels for c in range(3) for x in range(96)
    ]
    (folder / f"{part}_X.bin").write_bytes(b"".join(columns))
    (folder / f"{part}_y.bin").write_bytes(bytes(labels))
