"""Sentences about the levels of a pyramid, each given once for all levels that it applies to."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """A sentence about a level.

    Args:
        level: its number.
        sentence: with {} for the number, if it has one.
        number: may differ from level to level.
        whatever_numbers: whether levels whose sentences differ in numbers alone share the first
            one's sentence.
    """

    level: int
    sentence: str
    number: str = ""
    whatever_numbers: bool = False

    @property
    def kind(self) -> str:
        """Key that is equal for remarks that share a line."""
        return re.sub(r"[\d.,]+", "#", self.sentence) if self.whatever_numbers else self.sentence


def said_once(remarks: Iterable[Remark], every: Sequence[int]) -> list[str]:
    """A line for each sentence, with the levels that it applies to.

    Args:
        remarks: level by level.
        every: numbers of all levels of the report.
    """
    by_kind: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_kind.setdefault(remark.kind, []).append(remark)
    return [_line(alike, every) for alike in by_kind.values()]


def _line(alike: Sequence[Remark], every: Sequence[int]) -> str:
    numbers = [remark.number for remark in alike]
    said = numbers[0] if len(set(numbers)) == 1 else _listed(numbers)
    levels = [remark.level for remark in alike]
    title = "all levels" if len(every) > 1 and levels == [*every] else levels_in_words(levels)
    differ = len({remark.sentence for remark in alike}) > 1
    whose = f" (numbers of level {levels[0]})" if differ else ""
    return f"{title}: {alike[0].sentence.replace('{}', said)}{whose}"


def levels_in_words(numbers: Sequence[int]) -> str:
    """'level 2', or 'levels 0, 1 and 3'."""
    return f"level{'s' if len(numbers) > 1 else ''} {_listed(map(str, numbers))}"


def _listed(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
