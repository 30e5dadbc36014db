"""What is recorded of finished blocks, and the parts that they write."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_graphs.store.records import Records, cut, gaps
from cheblienet_graphs.store.staged import StagedArray, Writer


@given(st.sets(st.integers(0, 50)), st.integers(1, 9))
def test_gaps_and_ranges_make_the_whole(ends: set[int], step: int) -> None:
    edges = sorted(ends | {0, 50})
    ranges = [pair for n, pair in enumerate(itertools.pairwise(edges)) if n % 2]
    pieces = cut(gaps(ranges, 50), step)
    assert sorted([row for start, stop in [*pieces, *ranges] for row in range(start, stop)]) == [
        *range(50)
    ]
    assert all(0 < stop - start <= step for start, stop in pieces)


def test_overlapping_records_are_counted_once(tmp_path: Path) -> None:
    records = Records(tmp_path)
    for rows in ((0, 10), (5, 15), (10, 12), (20, 30)):
        records.keep("s", rows, {"entries": rows[1] - rows[0]})
    (tmp_path / "s" / "torn-name").write_text("{")  # not yet renamed
    assert records.finished("s") == {
        (0, 10): {"entries": 10},
        (10, 12): {"entries": 2},
        (20, 30): {"entries": 10},
    }
    assert records.result("s", (5, 15)) == {"entries": 10}
    assert records.result("s", (0, 15)) is None
    assert records.finished("t") == {}
    assert len(records) == 4


def test_parts_written_in_any_order_make_the_array(tmp_path: Path) -> None:
    array = StagedArray(tmp_path / "a", (7, 2), "int32").reserve({})
    whole = np.arange(14, dtype=np.int32).reshape(7, 2)
    for start, stop in ((5, 7), (0, 2), (2, 5), (2, 5)):
        with Writer() as out:
            out.write(array, start, whole[start:stop].astype(np.int64))
    assert (array.mapped() == whole).all()
    assert (array.part(3, 6) == whole[3:6]).all()
    assert (array.reserve({}).mapped() == whole).all()  # what is there stays
    assert StagedArray(tmp_path / "a", (8, 2), "int32").reserve({}).mapped().shape == (8, 2)


def test_nothing_comes_back_once_a_build_is_gone(tmp_path: Path) -> None:
    """A block that ends after its build was removed records nothing."""
    records = Records(tmp_path / "gone" / "finished")
    with pytest.raises(FileNotFoundError):
        records.keep("s", (0, 1), {})
    assert list(tmp_path.iterdir()) == []
