"""Numbers and sizes as they are given: what is taken, what is refused."""

import pytest

from cheblienet_graphs import SpecError
from cheblienet_graphs.limits import byte_count, integer


@pytest.mark.parametrize(("infix", "base"), [("", 1000), ("i", 1024)])
@pytest.mark.parametrize("power", range(5))
def test_sizes_in_bytes(power: int, infix: str, base: int) -> None:
    unit = f"{'kmgt'[power - 1]}{infix}" if power else ""
    for text in (f"1.5{unit}b", f" 3/2 {unit.upper()}B ", f"1.5{unit}"):
        assert byte_count("memory_limit", text) == int(1.5 * base**power)
    assert byte_count("memory_limit", 10**9) == 10**9


NONE = ["", "2 cats", "-1GB", "0", "1.2.3MB", "nan", "infGB", "1 mbb", "9" * 5000, "9" * 307 + "TB"]


@pytest.mark.parametrize("size", [*NONE, True, None, [2], [10**6000]], ids=range(14))
def test_sizes_that_are_none(size: object) -> None:
    with pytest.raises(SpecError, match="memory_limit must be a size such as 500MB or 2GB"):
        byte_count("memory_limit", size)


@pytest.mark.parametrize("number", ["x", None, 2.5, [1], float("nan"), -1, 1001])
def test_numbers_of_another_type_or_beyond_their_range_are_refused(number: object) -> None:
    with pytest.raises(SpecError, match=r"^count must be an integer in \[0, 1000\]\. Got "):
        integer("count", number, 0, 1000)
