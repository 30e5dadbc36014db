"""Of many cases some are quick, and always run."""

from collections.abc import Iterable

import pytest


def slow_but(quick: Iterable[object], cases: Iterable[object]) -> list[object]:
    """The cases, those that are not among the quick ones marked as slow."""
    kept = list(quick)
    return [case if case in kept else pytest.param(case, marks=pytest.mark.slow) for case in cases]
