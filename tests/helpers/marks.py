"""Marks of tests: of many cases some are quick, and always run; graphs that warn."""

from collections.abc import Iterable

import pytest

OFF_THEIR_METRIC = pytest.mark.filterwarnings("ignore:.* is off by some percent")
"""Graphs that do not converge to their metric serve as well where Delta itself is tested."""


def slow_but(quick: Iterable[object], cases: Iterable[object]) -> list[object]:
    """The cases, those that are not among the quick ones marked as slow."""
    kept = list(quick)
    return [case if case in kept else pytest.param(case, marks=pytest.mark.slow) for case in cases]
