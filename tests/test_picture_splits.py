"""Pictures in other sizes, their digests and their splits."""

from pathlib import Path

import numpy as np
import pytest
import torch
from labelled_files import grey, mnist, npz, pictures, refusal


def test_resizing_by_hand(tmp_path: Path) -> None:
    image = np.array([[9, 0, 10, 20, 30, 9], [9, 1, 11, 22, 37, 9]], np.uint8)
    image = np.concatenate([image, [[9, 200, 100, 0, 0, 9], [9, 100, 0, 0, 1, 9]]]).astype(np.uint8)
    file = npz(tmp_path / "a.npz", images=np.stack([image, image]), labels=[0, 1])
    assert pictures.read(file, 4).images[0, 0].tolist() == image[:, 1:5].tolist()
    # Means of 2 x 2 pixels: 22 / 4, 109 / 4, 400 / 4, 1 / 4; halves to the even neighbour.
    assert pictures.read(file, 2).images[1, 0].tolist() == [[6, 27], [100, 0]]
    # Windows of two pixels that overlap: columns 0-1, 1-2, 2-3.
    assert pictures.read(file, 3).images[0, 0, 0].tolist() == [6, 16, 27]
    assert pictures.read(file, 1).images[0, 0].tolist() == [[round(532 / 16)]]
    edge = npz(tmp_path / "b.npz", images=np.array([[[0, 200]] * 2] * 2, np.uint8), labels=[0, 1])
    assert pictures.read(edge, 4).images[0, 0, 0].tolist() == [0, 50, 150, 200]
    assert "`size=0` must be 1 or more" in refusal(edge, 0)


def test_splits_by_the_seed(tmp_path: Path) -> None:
    found = pictures.read(npz(tmp_path / "a.npz", images=grey(20), labels=np.arange(20) % 2))
    for train, test, sizes in ((None, None, (16, 4)), (5, None, (5, 4)), (12, 8, (12, 8))):
        parts = pictures.split(found, 3, train, test)
        assert tuple(len(part) for part in parts) == sizes
        assert all(part.dtype == torch.int64 for part in parts)
        numbers = torch.cat(parts).tolist()
        assert len(set(numbers)) == len(numbers)
        assert set(numbers) <= set(range(20))
        again = pictures.split(found, 3, train, test)
        assert [part.tolist() for part in again] == [part.tolist() for part in parts]
    assert len({tuple(pictures.split(found, seed)[1].tolist()) for seed in range(9)}) == 9
    few, many = (pictures.split(found, 3, count)[0] for count in (5, 15))
    assert torch.equal(many[:5], few)
    for train, test, message in (
        (17, None, "There are 20 pictures, too few for 17 to train and 4 to test on"),
        (None, 5, "too few for 16 to train and 5 to test on"),
        (0, 1, "`train=0` must be 1 or more"),
        (1, -1, "`test=-1` must be 1 or more"),
    ):
        with pytest.raises(ValueError, match=message):
            pictures.split(found, 3, train, test)


def test_splits_of_the_files_own_parts(tmp_path: Path) -> None:
    mnist(tmp_path, grey(20), np.arange(20) % 2, "train-")
    mnist(tmp_path, grey(10), np.arange(10) % 2, "t10k-")
    found = pictures.read(tmp_path)
    train, test = pictures.split(found, 0)
    assert train.tolist() == list(range(20))
    assert test.tolist() == list(range(20, 30))
    few, tested = pictures.split(found, 1, 6, 4)
    assert len(set(few.tolist())) == 6
    assert set(few.tolist()) <= set(range(20))
    assert len(set(tested.tolist())) == 4
    assert set(tested.tolist()) <= set(range(20, 30))
    more, same = pictures.split(found, 1, 12, 4)
    assert torch.equal(more[:6], few)
    assert torch.equal(same, tested)
    assert len({tuple(pictures.split(found, seed, 6)[0].tolist()) for seed in range(9)}) == 9
    for train, test, message in (
        (21, None, "`train=21` must be at most 20, the pictures that the files have to train on"),
        (None, 11, "`test=11` must be at most 10, the pictures that the files have to test on"),
    ):
        with pytest.raises(ValueError, match=message):
            pictures.split(found, 0, train, test)
