"""Calls that must be refused."""

from collections.abc import Callable
from typing import Any

import pytest


def refused(
    message: str,
    call: Callable[..., object],
    *given: Any,
    error: type[Exception] | tuple[type[Exception], ...] = ValueError,
    **how: Any,
) -> None:
    """Check that a call is refused in one line, in which a pattern is found."""
    with pytest.raises(error, match=message) as caught:
        call(*given, **how)
    assert str(caught.value).isprintable()
