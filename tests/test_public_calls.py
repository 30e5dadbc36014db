"""Public callables given something else than they take say so, in one line of ours."""

import linecache
import random
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import public_calls
import pytest
import torch
from public_calls import Call

import cheblienet_graphs
import cheblienet_models

CALLS, SEED = 1000, 0
PACKAGES = tuple(str(Path(p.__file__).parent) for p in (cheblienet_graphs, cheblienet_models))


def ignored(*_: object) -> None:
    """A function that takes anything and returns nothing."""


WORDS: tuple[Any, ...] = ("no", "")
WRONG: tuple[Any, ...] = (
    *(None, True, -1, 0, 2.5, float("nan"), b"x", 1j, ignored, object(), Path("missing")),
    *([], [1, "a"], (None,), {}, {"a": 1}, {1: 2}, range(2)),
    *(np.array(["a"]), np.zeros((2, 3)), np.array(1), np.array([None])),
    *(torch.zeros(()), torch.zeros(2, 3), torch.zeros(2, 3, 4, dtype=torch.uint8)),
)


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    return public_calls.all_calls(public_calls.publish(tmp_path_factory.mktemp("calls")))


def test_every_public_callable_is_called_and_works(calls: list[Call]) -> None:
    assert set(public_calls.names()) <= {call.name for call in calls}
    for call in calls:
        if call.works:
            call()


def is_ours(error: BaseException, changed: dict[str, Any]) -> bool:
    """Raised on purpose by the packages, in one line; or a TypeError that names an argument."""
    text = str(error)
    if isinstance(error, TypeError) and any(name in text for name in changed):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1]
    on_purpose = linecache.getline(last.filename, last.lineno or 0).strip().startswith("raise ")
    families = (
        *(ValueError, TypeError, AssertionError),
        *(cheblienet_graphs.CheblienetError, cheblienet_models.StoreError),
    )
    known = isinstance(error, families) and last.filename.startswith(PACKAGES)
    return known and on_purpose and len(text) > 0 and "\n" not in text


def wrong_calls(calls: list[Call]) -> Iterator[tuple[Call, dict[str, Any]]]:
    """Callables and one or two of their arguments, with what to give instead."""
    drawn = random.Random(SEED)
    for _ in range(CALLS):
        call = drawn.choice([each for each in calls if each.arguments])
        arguments = sorted(call.arguments)
        chosen = drawn.sample(arguments, k=min(len(arguments), drawn.choice((1, 1, 2))))
        words = {each: () if each in call.words else WORDS for each in chosen}
        yield call, {each: drawn.choice(WRONG + words[each]) for each in chosen}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_are_told_of(
    calls: list[Call], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    foreign = []
    for call, changed in wrong_calls(calls):
        try:
            call(**changed)
        except Exception as error:  # noqa: BLE001 -- all that can come is looked at
            if not is_ours(error, changed):
                shown = f"{type(error).__name__}: {error!s:.150}"
                foreign.append(f"{call.name} {changed!r:.150}: {shown}")
    assert foreign == []
