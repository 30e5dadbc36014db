"""What studies say of a graph: to whom it applies, and that what it advises settles it."""

import re
from typing import Any

import pytest

from cheblienet_graphs import GraphSpec
from cheblienet_graphs.report.training import on_training

ADVISED = re.compile(r"`(\w+)=(\d+)`")


@pytest.mark.parametrize(
    ("fields", "advised"),
    [
        (("se2", {}), [("neighbors", "30"), ("lambda_max", "2")]),
        (("se2", {"orientations": 3}), [("lambda_max", "2")]),
        (("se2", {"neighbors": 32, "lambda_max": 2}), []),
        (("se2", {"weights": "selling"}), []),
        (("se2", {"weights": "matched"}), []),
        (("r2", {}), [("lambda_max", "2")]),
        (("s2", {"subdivisions": 1}), [("lambda_max", "2")]),
    ],
    ids=str,
)
def test_what_is_advised(
    fields: tuple[str, dict[str, Any]], advised: list[tuple[str, str]]
) -> None:
    manifold, options = fields
    size = {} if manifold == "s2" else {"size": 8}
    spec = GraphSpec(manifold, **size, **options)
    sentences = list(on_training(spec))
    assert [ADVISED.search(sentence).groups() for sentence in sentences] == advised
    settled = options | {name: int(value) for name, value in advised}
    assert not list(on_training(GraphSpec(manifold, **size, **settled)))
