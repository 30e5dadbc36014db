"""Labeled pictures to train classifiers on, from files that users have: read, checked and split.

Known are: IDX as MNIST has (a folder, or a file of images with its labels beside it, gzipped or
not); CIFAR-10, CIFAR-100 and STL-10 in binary (their folder, or one file of CIFAR); a folder with a
folder of pictures for each class, or with train/ and test/ of these; and .npz with images (N, H, W)
or (N, H, W, C) uint8 and labels (N,), or the same of each part: x_train, y_train, x_test, y_test.
"""

import gzip
import hashlib
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

Array = npt.NDArray[Any]
Part = tuple[Array, Array, bool]
"""Images (n, C, H, W) uint8 and labels (n,) of some files, and whether they are to test on."""

KNOWN = "IDX, CIFAR-10, CIFAR-100 or STL-10 in binary, a folder of class folders, .npz"
IDX_IMAGES = re.compile(r"(.*)images[-.]idx3-ubyte(\.gz)?")
IDX_TEST = re.compile(r"(.*[-_.])?(t10k|test)[-_.]")
IDX_PART = re.compile(r"train|t10k|test")
CIFAR_IMAGE, STL_IMAGE = (3, 32, 32), (3, 96, 96)
NPZ = (
    (("images", "labels", False),),
    (("x_train", "y_train", False), ("x_test", "y_test", True)),
    (("train_images", "train_labels", False), ("test_images", "test_labels", True)),
)
DAMAGE = (OSError, EOFError, LookupError, zlib.error, zipfile.BadZipFile)
"""What readers of damaged files raise, but for ValueError."""
MOST_CHANNELS, MOST_CLASSES = 4, 65_536
TEST_SHARE = 0.2
AT_ONCE = 500


@dataclass(frozen=True)
class Pictures:
    """Pictures of two or more classes.

    Args:
        images: (N, C, H, W) uint8.
        labels: (N,) int64 in [0, classes).
        is_test: (N,) bool, the split that the files have; None where they have none.
        digest: SHA-256 of images and labels, so that a checkpoint is not continued on others.
    """

    images: Tensor
    labels: Tensor
    is_test: Tensor | None
    digest: str


def read(path: Path, size: int | None = None) -> Pictures:
    """All labeled pictures of a file or a folder.

    Args:
        path: of one of the formats above.
        size: in pixels. Each picture is cropped to its central square and brought to size x size.
            None takes them as they are; all must have one size then.

    Raises:
        ValueError: they are not as they should be; one sentence says what.
    """
    try:
        parts = [part for part in _read(path, size) if len(part[1])]
    except DAMAGE as error:
        raise ValueError(f"{path} can't be read: {' '.join(str(error).split())}") from error
    parts.sort(key=lambda part: part[2])
    if len({part[0].shape[1:] for part in parts}) != 1:
        raise ValueError(f"{path} must have images of one size; give --size to bring all to one.")
    labels = torch.from_numpy(np.concatenate([part[1] for part in parts]).astype(np.int64))
    if len(labels.unique()) < 2 or labels.min() < 0 or labels.max() >= MOST_CLASSES:
        raise ValueError(
            f"{path} must have pictures of two or more classes, numbered from 0 on. "
            f"Got {labels.unique().tolist()}."
        )
    images = torch.from_numpy(np.concatenate([part[0] for part in parts]))
    images = images.contiguous() if size is None else resized(images, size)
    is_test = torch.tensor([part[2] for part in parts for _ in part[1]])
    own = is_test.any() and not is_test.all()
    return Pictures(images, labels, is_test if own else None, digest_of(images, labels))


def split(
    pictures: Pictures, seed: int, train: int | None = None, test: int | None = None
) -> tuple[Tensor, Tensor]:
    """Numbers of the pictures to train and to test on, each once: int64 tensors.

    Where the files have a split, they are of its parts: all of them in their order, or as many as
    asked for, drawn by the seed. Else all are shuffled by the seed; the first `train` (without it
    four fifths) and the next `test` (a fifth) are taken. The first of many are the few.

    Raises:
        ValueError: more are asked for than there are.
    """
    generator = torch.Generator().manual_seed(seed)
    if pictures.is_test is not None:
        parts = ((~pictures.is_test).nonzero()[:, 0], pictures.is_test.nonzero()[:, 0])
        shuffled = [part[torch.randperm(len(part), generator=generator)] for part in parts]
        few = zip(parts, shuffled, (train, test), strict=True)
        first, last = (part if count is None else drawn[:count] for part, drawn, count in few)
    else:
        order = torch.randperm(len(pictures.images), generator=generator)
        fifth = test or max(1, round(TEST_SHARE * len(order)))
        most = train or max(0, len(order) - fifth)
        first, last = order[:most], order[most : most + fifth]
    if len(first) < (train or 1) or len(last) < (test or 1):
        raise ValueError(
            f"There are {len(pictures.images):,} pictures, too few for {train or 'some'} to train "
            f"and {test or 'some'} to test on; ask for fewer."
        )
    return first, last


def digest_of(*tensors: Tensor) -> str:
    """SHA-256 of the shape and of every number of each."""
    digest = hashlib.sha256()
    for tensor in tensors:
        digest.update(str(tuple(tensor.shape)).encode())
        digest.update(tensor.numpy().data.cast("B"))
    return digest.hexdigest()


def resized(images: Tensor, size: int) -> Tensor:
    """The central squares of images (N, C, H, W) uint8, as (N, C, size, size) uint8.

    Smaller ones are averages over areas, larger ones bilinear between pixels; both are rounded.
    """
    height, width = images.shape[2:]
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    squares = images[..., top : top + side, left : left + side]
    how: dict[str, Any] = {"mode": "bilinear", "antialias": True}
    how = {"mode": "area"} if size < side else how
    parts = [
        nn.functional.interpolate(part.float(), (size, size), **how).round().clamp(0, 255)
        for part in squares.split(AT_ONCE)
    ]
    return squares.contiguous() if side == size else torch.cat(parts).to(torch.uint8)


def _read(path: Path, size: int | None) -> Iterator[Part]:
    """What the files of a folder, or one file, have."""
    files = visible(path) if path.is_dir() else [path]
    names = {file.name: file for file in files}
    # Of a file that is there twice the plain one counts.
    idx = {m[1]: names[name] for name in reversed(names) if (m := IDX_IMAGES.fullmatch(name))}
    if len({IDX_PART.sub("", prefix) for prefix in idx}) > 1:
        raise ValueError(f"{path} must have IDX files of one set. Got {', '.join(sorted(idx))}.")
    if idx:
        yield from (_idx(file) for _, file in sorted(idx.items()))
    elif stl := [names[name] for name in ("train_X.bin", "test_X.bin") if name in names]:
        yield from map(_stl, stl)
    elif any(name.endswith(".bin") for name in names):
        fine = "train.bin" in names or "test.bin" in names
        binary = (file for name, file in names.items() if name.endswith(".bin"))
        yield from (_cifar(file, 2 if fine else 1) for file in binary)
    elif path.suffix == ".npz":
        yield from _npz(path)
    elif path.is_dir() and any(file.is_dir() for file in files):
        yield from _folders(path, size)
    else:
        raise ValueError(f"{path} is in no known format, or not there. Known are: {KNOWN}.")


def _idx(file: Path) -> Part:
    labels = file.with_name(file.name.replace("images", "labels").replace("idx3", "idx1"))
    part = _same_number(file, _idx_array(file, 3)[:, None], _idx_array(labels, 1))
    return (*part, IDX_TEST.match(file.name) is not None)


def _idx_array(file: Path, sides: int) -> Array:
    contents = file.read_bytes()
    contents = gzip.decompress(contents) if file.suffix == ".gz" else contents
    header = 4 + 4 * sides
    shape = [int.from_bytes(contents[at : at + 4], "big") for at in range(4, header, 4)]
    if contents[:4] != bytes([0, 0, 8, sides]) or len(contents) != header + math.prod(shape):
        raise ValueError(f"{file} is no IDX file of {sides} sides, or not whole; load it anew.")
    return np.frombuffer(contents, np.uint8, offset=header).reshape(shape)


def _records(file: Path, length: int) -> Array:
    """(n, length) uint8."""
    contents = np.fromfile(file, np.uint8)
    if len(contents) % length:
        raise ValueError(
            f"{file} must have {length:,} bytes for each image. Got {len(contents):,} in all; "
            "load it anew."
        )
    return contents.reshape(-1, length)


def _cifar(file: Path, labels: int) -> Part:
    """Of one or two bytes of labels the last counts: the finer ones of CIFAR-100."""
    records = _records(file, labels + math.prod(CIFAR_IMAGE))
    images = records[:, labels:].reshape(-1, *CIFAR_IMAGE)
    return images, records[:, labels - 1], file.name.startswith("test")


def _stl(file: Path) -> Part:
    """Each channel is stored column by column; labels count from 1."""
    columns = _records(file, math.prod(STL_IMAGE)).reshape(-1, *STL_IMAGE)
    labels = np.fromfile(file.with_name(file.name.replace("_X", "_y")), np.uint8)
    part = _same_number(file, columns.swapaxes(2, 3), labels.astype(np.int64) - 1)
    return (*part, file.name.startswith("test"))


def _npz(path: Path) -> Iterator[Part]:
    with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        sets = [s for s in NPZ if {name for pair in s for name in pair[:2]} <= set(file.files)]
        if not sets:
            raise ValueError(f"{path} must have the arrays images and labels. Got {file.files}.")
        arrays = [(file[images], file[labels], is_test) for images, labels, is_test in sets[0]]
    for images, labels, is_test in arrays:
        shape = images.shape
        if images.dtype != np.uint8 or len(shape) not in (3, 4) or shape[3:] > (MOST_CHANNELS,):
            raise ValueError(
                f"Images in {path} must be uint8, (N, H, W) or (N, H, W, C). "
                f"Got {images.dtype} {shape}."
            )
        if labels.dtype.kind not in "biu" or labels.size != len(labels):
            raise ValueError(
                f"Labels in {path} must be whole numbers (N,). Got {labels.dtype} {labels.shape}."
            )
        channels = images[:, None] if len(shape) == 3 else np.moveaxis(images, 3, 1)
        yield (*_same_number(path, channels, labels.reshape(-1)), is_test)


def _same_number(file: Path, images: Array, labels: Array) -> tuple[Array, Array]:
    if len(images) != len(labels):
        raise ValueError(
            f"{file} must have one label for each image. Got {len(images):,} images and "
            f"{len(labels):,} labels."
        )
    return images, labels


def _folders(path: Path, size: int | None) -> Iterator[Part]:
    """Pictures of class folders, brought to size x size one by one; without size all have one."""
    training, test = own_split(path)
    names = [folder.name for folder in class_folders(training)]
    pictures: list[tuple[Array, int, bool]] = []
    for part in (training, *([test] if test else [])):
        for folder in class_folders(part):
            if folder.name not in names:
                raise ValueError(f"{folder} is of a class without pictures to train on.")
            for file in visible(folder):
                pixels = pixels_of(file)
                if size is not None:
                    pixels = resized(torch.from_numpy(pixels)[None], size)[0].numpy()
                pictures.append((pixels, names.index(folder.name), part == test))
    if len({pixels.shape[1:] for pixels, _, _ in pictures}) > 1:
        raise ValueError(f"Pictures in {path} must have one size; give --size to bring all to one.")
    channels = max((len(pixels) for pixels, _, _ in pictures), default=1)
    for pixels, label, is_test in pictures:
        image = np.broadcast_to(pixels, (channels, *pixels.shape[1:]))
        yield image[None], np.array([label]), is_test


PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif")
FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "GIF")
"""What Pillow may take a file for; by itself it would have Ghostscript run PostScript."""
TRAINING = ("train", "training")
TEST = ("test", "testing", "val", "valid", "validation")
LEFT_ALONE = ("thumbs.db",)


def visible(folder: Path) -> list[Path]:
    """What lies in a folder, by name, without hidden files and what Windows leaves there."""
    entries = sorted(folder.iterdir())
    return [e for e in entries if e.name[0] != "." and e.name.lower() not in LEFT_ALONE]


def class_folders(folder: Path) -> list[Path]:
    """The folders in it; notes beside them don't count, pictures do."""
    entries = visible(folder)
    if odd := [entry for entry in entries if entry.suffix.lower() in PICTURES]:
        raise ValueError(f"{odd[0]} is not in the folder of a class; move it there, or away.")
    return [entry for entry in entries if entry.is_dir()]


def own_split(path: Path) -> tuple[Path, Path | None]:
    """The folders to train and to test on; all of it and None where there are none.

    A folder is for training by its name and because it has folders: "train" may be a class.
    Folders for validation count where there is none for tests; else they are left alone.
    """
    folders = {entry.name.lower(): entry for entry in visible(path) if entry.is_dir()}
    training, test = (
        next((folders[name] for name in names if name in folders), None)
        for names in (TRAINING, TEST)
    )
    if training is None or not class_folders(training):
        return path, None
    if test is None or not folders.keys() <= {*TRAINING, *TEST}:
        raise ValueError(
            f"{path} must have train/ and test/, val/ or valid/ alone. Got {', '.join(folders)}; "
            f"give {training} to have it split."
        )
    return training, test


def pixels_of(file: Path) -> npt.NDArray[Any]:
    """(1, H, W) uint8 of a gray picture, (3, H, W) of another; upright, as its EXIF says."""
    try:
        from PIL import Image, ImageOps  # an extra
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{file} is a picture; reading it takes Pillow. Install it: "
            "pip install 'cheblienet[images]', or pip install pillow."
        ) from error
    try:
        # Pillow warns of large pictures and of odd EXIF.
        with warnings.catch_warnings(action="ignore"), Image.open(file, formats=FORMATS) as image:
            upright = ImageOps.exif_transpose(image)
            wide = upright.mode[0] in "IF"
            clear = upright.convert("RGBA").getchannel("A").getextrema()[0] != 255
            pixels = np.array(upright.convert("RGB")).transpose(2, 0, 1)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"{file} is no picture, or a damaged one; take it away.") from error
    if wide or clear:
        raise ValueError(f"{file} must have 8 bits a channel and no transparent pixels.")
    return pixels[:1] if (pixels == pixels[:1]).all() else pixels
