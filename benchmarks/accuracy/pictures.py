"""Labelled pictures to train classifiers on, from files that users have: read, checked and split.

Known are: IDX as MNIST has (a folder, or a file of images with its labels beside it, gzipped or
not); CIFAR-10, CIFAR-100 and STL-10 in binary (their folder, or one file of CIFAR); a folder with a
folder of pictures for each class, or with train/ and test/ of these; and .npz with images (N, H, W)
or (N, H, W, C) uint8 and labels (N,), or the same of each part: x_train, y_train, x_test, y_test.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from picture_files import (
    CIFAR_10,
    CIFAR_100,
    IDX,
    STL,
    Raw,
    read_cifar,
    read_idx,
    read_npz,
    read_stl,
    reason,
)
from picture_folders import PICTURES, read_folders, visible
from resizing import resized
from torch import Tensor

KNOWN = (
    "IDX (*images-idx3-ubyte, *labels-idx1-ubyte), CIFAR-10, CIFAR-100 or STL-10 in binary (.bin), "
    f"a folder of class folders with pictures ({', '.join(PICTURES)}), .npz"
)
PICKLED = ("data_batch_1", "batches.meta")
MOST_CLASSES = 65_536
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Pictures:
    """Pictures of two or more classes.

    Args:
        images: (N, C, H, W) uint8.
        labels: (N,) int64 in [0, classes).
        names: of the classes; digits where the files have none.
        is_test: (N,) bool, the split that the files have; None where they have none.
        digest: SHA-256 of images and labels, so that a checkpoint is not continued on others.
    """

    images: Tensor
    labels: Tensor
    names: tuple[str, ...]
    is_test: Tensor | None
    digest: str


def read(path: Path, size: int | None = None) -> Pictures:
    """All labelled pictures of a file or a folder.

    Args:
        path: of one of the formats above.
        size: in pixels. Each picture is cropped to its central square and brought to size x size.
            None takes them as they are; all must have one size then.

    Raises:
        ValueError: they are not as they should be; one sentence says what.
    """
    if size is not None and size < 1:
        raise ValueError(f"`size={size}` must be 1 or more pixels.")
    try:
        raw = _checked(path, _read(path, size))
    except OSError as error:
        raise ValueError(f"{path} can't be read: {reason(error)}.") from error
    images, labels = torch.from_numpy(raw.images), torch.from_numpy(raw.labels)
    images = resized(images, size) if size is not None else images.contiguous()
    return Pictures(
        images=images,
        labels=labels,
        names=raw.names or tuple(str(number) for number in range(int(labels.max()) + 1)),
        is_test=None if raw.is_test is None else torch.from_numpy(raw.is_test),
        digest=_digest(images, labels),
    )


def split(
    pictures: Pictures, seed: int, train: int | None = None, test: int | None = None
) -> tuple[Tensor, Tensor]:
    """Numbers of the pictures to train and to test on, each once: int64 tensors.

    Where the files have a split, they are of its parts: all of them in their order, or as many as
    asked for, drawn by the seed. Else all are shuffled by the seed; the first `train` (without it
    four fifths) and the next `test` (a fifth) are taken. The first of many are the few.

    Raises:
        ValueError: more are asked for than there are, or fewer than one.
    """
    for name, count in (("train", train), ("test", test)):
        if count is not None and count < 1:
            raise ValueError(f"`{name}={count}` must be 1 or more pictures.")
    generator = torch.Generator().manual_seed(seed)
    if pictures.is_test is not None:
        parts = ((~pictures.is_test).nonzero()[:, 0], pictures.is_test.nonzero()[:, 0])
        shuffled = [part[torch.randperm(len(part), generator=generator)] for part in parts]
        return (
            _taken("train", parts[0], shuffled[0], train),
            _taken("test", parts[1], shuffled[1], test),
        )
    total = len(pictures.images)
    fifth = max(1, round(TEST_SHARE * total))
    first, next_ = (train or total - fifth), (test or fifth)
    if first + next_ > total:
        raise ValueError(
            f"There are {total:,} pictures, too few for {first:,} to train and {next_:,} to test "
            "on; ask for fewer."
        )
    order = torch.randperm(total, generator=generator)
    return order[:first], order[first : first + next_]


def _taken(name: str, all_: Tensor, shuffled: Tensor, count: int | None) -> Tensor:
    if count is None:
        return all_
    if count > len(all_):
        raise ValueError(
            f"`{name}={count}` must be at most {len(all_):,}, the pictures that the files have to "
            f"{name} on."
        )
    return shuffled[:count]


def _read(path: Path, size: int | None) -> Raw:
    if path.is_dir():
        return _read_folder(path, size)
    if not path.is_file():
        raise ValueError(f"There is no file or folder {path}.")
    if match := IDX.fullmatch(path.name):
        if match[2].startswith("labels"):
            raise ValueError(f"{path} has labels; give the file of its images, or the folder.")
        return read_idx(path)
    if path.suffix == ".npz":
        return read_npz(path)
    if path.suffix != ".bin":
        raise ValueError(f"{path} is in no known format. Known are: {KNOWN}.")
    if path.stem.endswith(("_X", "_y")):
        raise ValueError(f"{path} is one of several files of STL-10; give {path.parent}.")
    return read_cifar(path, 100 if path.name in CIFAR_100 else 10)


def _read_folder(path: Path, size: int | None) -> Raw:
    entries = visible(path)
    if not entries:
        raise ValueError(f"{path} is empty. It must have one of: {KNOWN}.")
    if any(IDX.fullmatch(entry.name) and entry.is_file() for entry in entries):
        return read_idx(path)
    if any(entry.match(pattern) for entry in entries for pattern in CIFAR_10):
        return read_cifar(path, 10)
    names = [entry.name for entry in entries]
    if any(name in names for name in CIFAR_100):
        return read_cifar(path, 100)
    if any(name in names for name in STL):
        return read_stl(path)
    if any(name in names for name in PICKLED):
        raise ValueError(f"{path} has CIFAR as Python pickles; load its binary version (.bin).")
    if len(entries) == 1 and entries[0].is_dir():
        raise ValueError(
            f"{path} has the folder {names[0]} alone. Give that, or folders of two or more classes."
        )
    if any(entry.is_dir() or entry.suffix.lower() in PICTURES for entry in entries):
        return read_folders(path, size)
    found = ", ".join(names[:3])
    raise ValueError(f"{path} is in no known format, it has {found}. Known are: {KNOWN}.")


def _checked(path: Path, raw: Raw) -> Raw:
    """The same, with labels as int64."""
    if 0 in raw.images.shape:
        raise ValueError(f"{path} has no pixels; its images are {raw.images.shape}.")
    lowest, highest = int(raw.labels.min()), int(raw.labels.max())
    if lowest < 0 or highest >= MOST_CLASSES:
        odd = lowest if lowest < 0 else highest
        raise ValueError(f"Labels in {path} must be 0 to {MOST_CLASSES - 1:,}. Found {odd}.")
    if raw.names is not None and highest >= len(raw.names):
        raise ValueError(
            f"{path} must have a name for each class. Got {len(raw.names)} names and the label "
            f"{highest}."
        )
    if raw.is_test is not None and len(np.unique(raw.is_test)) == 1:
        raise ValueError(f"{path} must have pictures to train and to test on, or no split.")
    if lowest == highest:
        name = raw.names[lowest] if raw.names else lowest
        raise ValueError(f"{path} must have pictures of two or more classes. Got {name} alone.")
    return Raw(raw.images, raw.labels.astype(np.int64), raw.names, raw.is_test)


def _digest(images: Tensor, labels: Tensor) -> str:
    found = hashlib.sha256()
    for tensor in (images, labels):
        found.update(str(tuple(tensor.shape)).encode())
        found.update(tensor.numpy().data.cast("B"))
    return found.hexdigest()
