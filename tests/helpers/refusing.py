"""Calls that must be refused."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(
    message: str,
    call: Callable[..., object],
    *given: Any,
    error: type[Exception] | tuple[type[Exception], ...] = ValueError,
    most: int = 2_000,
    **how: Any,
) -> str:
    """The one line that a call is refused with, no longer than that; a pattern is found in it."""
    with pytest.raises(error, match=message) as caught:
        call(*given, **how)
    refusal = str(caught.value)
    assert refusal.isprintable()
    assert len(refusal) <= most
    return refusal
