"""Examples in the docstrings of public names run as they are, each in a folder of its own."""

import doctest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import cheblienet_graphs
import cheblienet_models
from cheblienet_models import testing

MODULES = cheblienet_graphs, cheblienet_models, testing
NAMES: dict[str, Any] = {name: getattr(m, name) for m in MODULES for name in m.__all__}
GIVEN = NAMES | {"np": np, "torch": torch}


def examples() -> Iterator[doctest.DocTest]:
    parser = doctest.DocTestParser()
    for name, public in sorted(NAMES.items()):
        if ">>>" in (public.__doc__ or ""):
            yield parser.get_doctest(public.__doc__, dict(GIVEN), name, None, None)


def test_names_that_users_meet_first_have_one() -> None:
    assert len([*examples()]) >= 30


@pytest.mark.parametrize("example", [*examples()], ids=lambda example: example.name)
def test_an_example_prints_what_it_says(
    example: doctest.DocTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said: list[str] = []
    doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert not said, "".join(said)
