"""JSON documents: how deep they are, which values are the same, which numbers they may hold."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cheblienet_models.store.files import canonical, deeper_than, parsed

LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, 2.5, "", "a"])
VALUES = st.recursive(
    LEAVES,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text("ab"), part, max_size=3),
)


def depth(value: Any) -> int:
    """How many lists and objects lie in one another, a value within the innermost one counted."""
    if not isinstance(value, dict | list):
        return 0
    children = value.values() if isinstance(value, dict) else value
    return max((1 + depth(child) for child in children), default=0)


@given(VALUES, st.integers(0, 6))
def test_depth(value: Any, most: int) -> None:
    assert deeper_than(value, most) == (depth(value) > most)


def test_values_differ_in_kind_too() -> None:
    texts = [canonical({"a": [value]}) for value in (1, 1.0, True, "1", None, [1], {})]
    assert len(set(texts)) == len(texts)
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2, "a": 1})


@pytest.mark.parametrize(
    "text", [b"NaN", b"[Infinity]", b"-Infinity", b"1e999", b"\xff", b"{", b""]
)
def test_what_is_no_document(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- words are those of Python
        parsed(text)


def test_documents() -> None:
    assert parsed(b'{"a": [1, 1.5, -2e3, "\xc3\xa9", null]}') == {"a": [1, 1.5, -2000.0, "é", None]}
