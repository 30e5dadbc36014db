"""Files of labelled pictures as they are published: IDX, CIFAR and STL-10 in binary, .npz."""

import gzip
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Part = tuple[Array, Array]
"""Images (n, C, H, W) uint8 and labels (n,) of one file, or of one pair of files."""

IDX = re.compile(r"(.*)(images[-.]idx3|labels[-.]idx1)-ubyte(?:\.gz)?")
IDX_KIND = re.compile(r"(.*?)(?<![^-_.])(train|t10k|test)[-_.]")
CIFAR_10 = ("data_batch_*.bin", "test_batch.bin")
CIFAR_100 = ("train.bin", "test.bin")
CIFAR_IMAGE = (3, 32, 32)
STL = ("train_X.bin", "test_X.bin")
STL_IMAGE = (3, 96, 96)
STL_CLASSES = 10
NPZ = (
    (("images", "labels"),),
    (("x_train", "y_train"), ("x_test", "y_test")),
    (("train_images", "train_labels"), ("test_images", "test_labels")),
)
MOST_CHANNELS = 4
DAMAGE = (
    *(OSError, EOFError, SyntaxError, ValueError, TypeError, LookupError, OverflowError),
    *(RuntimeError, struct.error, zlib.error, zipfile.BadZipFile),
)
"""What readers of damaged files raise."""


@dataclass(frozen=True)
class Raw:
    """Pictures as files have them: images (N, C, H, W) uint8 and labels (N,).

    `names` of the classes and `is_test` (N,) bool are None where the files do not say.
    """

    images: Array
    labels: Array
    names: tuple[str, ...] | None = None
    is_test: Array | None = None


def reason(error: BaseException) -> str:
    """What an error says, on one line and without a full stop."""
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def joined(
    path: Path,
    training: Sequence[Part],
    test: Sequence[Part],
    names: tuple[str, ...] | None = None,
) -> Raw:
    """Training parts, then test parts; a split only where there are both."""
    images, labels = zip(*training, *test, strict=True)
    shapes = sorted({part.shape[1:] for part in images})
    if len(shapes) > 1:
        raise ValueError(
            f"Images in {path} must have one size. Got (channels, height, width) {shapes[0]} "
            f"and {shapes[1]}."
        )
    counts = [sum(len(part[1]) for part in parts) for parts in (training, test)]
    is_test = np.repeat([False, True], counts) if training and test else None
    return Raw(np.concatenate(images), np.concatenate(labels), names, is_test)


def same_number(images: Array, labels: Array, where: str) -> Part:
    """Both, if there are as many of them."""
    if len(images) != len(labels):
        raise ValueError(
            f"{where} must have one label for each image. Got {len(images):,} images and "
            f"{len(labels):,} labels."
        )
    return images, labels


def read_idx(path: Path) -> Raw:
    """All pairs of a folder, or the pair of one file of images."""
    folder = path if path.is_dir() else path.parent
    labels = _idx_files(folder, "labels")
    images = _idx_files(folder, "images") if path.is_dir() else {_idx_name(path)[0]: path}
    if not images:
        raise ValueError(f"{path} has IDX files of labels and none of images; put them there.")
    parts: dict[str, list[Part]] = {"train": [], "test": [], "": []}
    for prefix, kind in _idx_kinds(folder, list(images)).items():
        if prefix not in labels:
            expected = images[prefix].name.replace("images", "labels").replace("idx3", "idx1")
            raise ValueError(f"{images[prefix]} has no labels; {expected} must lie beside it.")
        pair = images[prefix], labels[prefix]
        found = _idx_array(pair[0], 3)[:, None], _idx_array(pair[1], 1)
        parts[kind].append(same_number(*found, f"{pair[0]} and {pair[1].name}"))
    return joined(path, parts["train"] + parts[""], parts["test"])


def _idx_name(file: Path) -> tuple[str, str]:
    """What a name has before "images" or "labels", and which of the two; "" for other files."""
    match = IDX.fullmatch(file.name)
    return (match[1], match[2][:6]) if match and file.is_file() else ("", "")


def _idx_files(folder: Path, what: str) -> dict[str, Path]:
    """Files of images or of labels by what their names begin with; plain before gzipped ones."""
    found: dict[str, Path] = {}
    for file in sorted(folder.iterdir(), key=lambda file: (file.suffix == ".gz", file.name)):
        prefix, kind = _idx_name(file)
        if kind == what:
            found.setdefault(prefix, file)
    return dict(sorted(found.items()))


def _idx_kinds(folder: Path, prefixes: list[str]) -> dict[str, str]:
    """Which of "train" and "test" the files are for; "" for all where not both are there."""
    matches = {prefix: IDX_KIND.fullmatch(prefix) for prefix in prefixes}
    kinds = {p: "" if m is None else m[2].replace("t10k", "test") for p, m in matches.items()}
    sets = sorted({p if m is None else m[1] for p, m in matches.items()})
    if not {"train", "test"} <= set(kinds.values()):
        return dict.fromkeys(prefixes, "")
    if len(sets) > 1:
        raise ValueError(
            f"{folder} must have IDX files of one set, to train and to test on. Got sets that "
            f"begin with {sets[0]!r} and {sets[1]!r}; put each in a folder of its own."
        )
    return kinds


def _idx_array(file: Path, sides: int) -> Array:
    contents = file.read_bytes()
    if contents[:2] == b"\x1f\x8b":
        try:
            contents = gzip.decompress(contents)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(
                f"{file} can't be unpacked: {reason(error)}. It may be truncated; load it anew."
            ) from error
    magic, header = bytes([0, 0, 8, sides]), 4 + 4 * sides
    if contents[:4] != magic:
        raise ValueError(
            f"{file} must begin with the bytes {magic.hex(' ')}, as IDX files of "
            f"{'images' if sides == 3 else 'labels'} do. Got {contents[:4].hex(' ') or 'nothing'}."
        )
    shape = [int.from_bytes(contents[at : at + 4], "big") for at in range(4, header, 4)]
    expected = header + math.prod(shape)
    if len(contents) != expected:
        raise ValueError(
            f"{file} must have {expected:,} bytes for {' x '.join(map(str, shape))}. "
            f"Got {len(contents):,}; load it anew."
        )
    return np.frombuffer(contents, np.uint8, offset=header).reshape(shape)


def read_cifar(path: Path, classes: int) -> Raw:
    """A folder of CIFAR-10 or, with 100 classes, of CIFAR-100 in binary; or one of its files."""
    folder = path if path.is_dir() else path.parent
    patterns = CIFAR_10 if classes == 10 else CIFAR_100
    files = [sorted(path.glob(pattern)) for pattern in patterns] if path.is_dir() else [[path], []]
    training, test = ([_cifar_part(file, classes) for file in part] for part in files)
    names = "batches.meta.txt" if classes == 10 else "fine_label_names.txt"
    return joined(path, training, test, names_in(folder / names))


def _cifar_part(file: Path, classes: int) -> Part:
    """The last byte of labels counts: the finer ones of CIFAR-100."""
    before = 1 if classes == 10 else 2
    records = _records(file, before + math.prod(CIFAR_IMAGE), f"CIFAR-{classes}")
    labels = records[:, before - 1]
    if (highest := labels.max()) >= classes:
        raise ValueError(
            f"Labels in {file} must be 0 to {classes - 1}, as in CIFAR-{classes}. Found {highest}."
        )
    return records[:, before:].reshape(-1, *CIFAR_IMAGE), labels


def _records(file: Path, length: int, form: str) -> Array:
    """(n, length) uint8, one or more."""
    contents = np.fromfile(file, np.uint8)
    if len(contents) == 0 or len(contents) % length:
        expected = length * (len(contents) // length + 1)
        raise ValueError(
            f"{file} must have {length:,} bytes for each image, as {form} has: {expected:,} or "
            f"another multiple. Got {len(contents):,}; load it anew."
        )
    return contents.reshape(-1, length)


def read_stl(folder: Path) -> Raw:
    """A folder of STL-10 in binary, without its unlabelled images."""
    training, test = ([_stl_part(folder / n)] if (folder / n).exists() else [] for n in STL)
    return joined(folder, training, test, names_in(folder / "class_names.txt"))


def _stl_part(file: Path) -> Part:
    """Each channel is stored column by column; labels count from 1."""
    beside = file.with_name(file.name.replace("_X", "_y"))
    if not beside.exists():
        raise ValueError(f"{file} has no labels; {beside.name} must lie beside it.")
    columns = _records(file, math.prod(STL_IMAGE), "STL-10").reshape(-1, *STL_IMAGE)
    labels = np.fromfile(beside, np.uint8)
    if len(odd := np.setdiff1d(labels, np.arange(1, STL_CLASSES + 1))):
        raise ValueError(
            f"Labels in {beside} must be 1 to {STL_CLASSES}, as in STL-10. Found {odd[0]}."
        )
    return same_number(columns.swapaxes(2, 3), labels - 1, f"{file} and {beside.name}")


def names_in(file: Path) -> tuple[str, ...] | None:
    """One on each line; None where there is no such file."""
    if not file.exists():
        return None
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    return tuple(line.strip() for line in lines if line.strip())


def read_npz(path: Path) -> Raw:
    """The first of NPZ's sets of arrays that a file has all of."""
    with path.open("rb") as opened:
        is_whole = opened.read(4) == b"PK\x03\x04" and zipfile.is_zipfile(opened)
    if not is_whole:
        raise ValueError(f"{path} is no .npz file, or a truncated one; save it anew.")
    try:
        # np.load leaves files open that it can't read.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            found = list(file.files)
            pairs = next((p for p in NPZ if {n for pair in p for n in pair} <= set(found)), None)
            arrays = [(file[images], file[labels]) for images, labels in pairs or ()]
    except DAMAGE as error:
        raise ValueError(f"{path} can't be read as .npz: {reason(error)}.") from error
    if pairs is None:
        known = "; or ".join(", ".join(name for pair in p for name in pair) for p in NPZ)
        raise ValueError(f"{path} must have the arrays {known}. Got {', '.join(found)}.")
    parts = [_npz_part(path, pair, named) for pair, named in zip(arrays, pairs, strict=True)]
    return joined(path, parts[:1], parts[1:])


def _npz_part(path: Path, pair: Part, named: tuple[str, str]) -> Part:
    images, labels = pair
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or 0 in images.shape[1:]:
        raise ValueError(
            f"{named[0]} in {path} must be uint8, (N, H, W) or (N, H, W, C). "
            f"Got {images.dtype} {images.shape}."
        )
    if images.ndim == 4 and images.shape[3] > MOST_CHANNELS:
        raise ValueError(
            f"{named[0]} in {path} must have channels last, at most {MOST_CHANNELS}. "
            f"Got {images.shape}."
        )
    is_column = labels.ndim == 1 or (labels.ndim == 2 and labels.shape[1] == 1)
    if labels.dtype.kind not in "biu" or not is_column:
        raise ValueError(
            f"{named[1]} in {path} must be whole numbers (N,). Got {labels.dtype} {labels.shape}."
        )
    channels = images[:, None] if images.ndim == 3 else np.moveaxis(images, 3, 1)
    return same_number(channels, labels.reshape(-1), str(path))
