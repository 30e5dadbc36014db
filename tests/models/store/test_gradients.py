"""Stored gradients: damaged, hostile and contradictory ones are refused, with one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from damage import writable_copy
from sealing import reseal, reseal_array

from cheblienet_graphs import GraphSpec, build
from cheblienet_models import Gradient, Store, StoreError, open_store

FIELDS, SYMMETRIC = "levels/0/gradients/fields", "levels/0/gradients/symmetric"


@pytest.fixture
def version(gradient_graphs: Store, tmp_path: Path) -> Path:
    """Of a private copy of a graph, whose digests can be made to agree again."""
    return writable_copy(gradient_graphs.path, tmp_path / "g.zarr") / "arrows" / "v001"


def refused(version: Path, message: str, *, verify: bool) -> None:
    with pytest.raises(StoreError, match=message) as caught:
        open_store(version.parents[1], verify=verify)["arrows"]
    assert str(caught.value).isprintable()


def facts(**values: Any) -> Callable[[Path], None]:
    """Change the facts of the finest level's gradients."""
    return lambda version: reseal(version, lambda clg: clg["levels"][0]["gradients"].update(values))


def spec(**values: Any) -> Callable[[Path], None]:
    return lambda version: reseal(version, lambda clg: clg["spec"].update(values))


def array(key: str, change: Callable[[np.ndarray], object]) -> Callable[[Path], None]:
    return lambda version: reseal_array(version, key, change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *((spec(gradients=value), "must have gradients true, on r2,") for value in (1, None)),
        *((spec(manifold=value), "have gradients true, on r2,") for value in ("r3s2", ["se2"])),
        *(
            (facts(norms=value), r"must have 3 norms of gradients, finite numbers from 0\. Got")
            for value in (None, 1, [1, 1], [1, 1, -1], [1, 1, "1"], [1, True, 1], [1, 1, 1e300])
        ),
        *(
            (facts(spacings=value), "must have one spacing above 0 along the base")
            for value in ([0.0, 0.0, 1.0], [1.0, 0.5, 1.0])
        ),
        *(
            (facts(nnz=value), rf"{FIELDS} must have .* entries, as the facts")
            for value in (0, 1, None, True, 3.0, "3", -1)
        ),
        *((facts(symmetric_nnz=n), f"{SYMMETRIC} must have {n} entries, as") for n in (0, 1)),
        (spec(manifold="r2"), r"norms|fields must have shape"),
        (array(f"{FIELDS}/indices", lambda a: a.__setitem__(0, 10**6)), "columns reach outside"),
        (array(f"{FIELDS}/indptr", lambda a: a.__setitem__(1, -1)), "row pointers do not ascend"),
        (array(f"{SYMMETRIC}/indices", lambda a: a.__setitem__(0, 200)), "do not ascend in every"),
    ],
)
def test_refused_where_opened(version: Path, change: Callable[[Path], None], message: str) -> None:
    change(version)
    refused(version, message, verify=False)


def test_missing_facts_and_matrices(version: Path) -> None:
    (version / SYMMETRIC).rename(version / "elsewhere")
    refused(version, SYMMETRIC, verify=False)
    reseal(version, lambda clg: clg["levels"][0].pop("gradients"))
    refused(version, "must have 3 norms of gradients", verify=False)


def one(value: float) -> Callable[[np.ndarray], object]:
    return lambda values: values.__setitem__(5, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            (array(f"{FIELDS}/data", one(value)), "The forward gradients of .* finite, be 0 on")
            for value in (np.nan, 0.5)
        ),
        (array(f"{FIELDS}/data", lambda a: a.__imul__(1.5)), "their sums with their transposes"),
        (array(f"{SYMMETRIC}/data", one(np.inf)), "The forward gradients of .* must be finite, be"),
        (array(f"{SYMMETRIC}/data", lambda a: a.__imul__(1.001)), "sums with their transposes"),
        (facts(norms=[100.0, 100.0, 0.9]), "The rotation gradients of .* have a norm above 0.9"),
        (facts(norms=[1.0, 100.0, 2.0]), "The forward gradients of .* have a norm above 1"),
        *((facts(largest=value), "must have a largest norm") for value in (None, -1, "1", 1e300)),
    ],
)
def test_refused_where_verified(
    version: Path, change: Callable[[Path], None], message: str
) -> None:
    open_store(version.parents[1], verify=True)["arrows"]
    change(version)
    open_store(version.parents[1])["arrows"]  # which looks at no values
    refused(version, message, verify=True)


def test_parts_that_are_left_out(gradient_graphs: Store, tmp_path: Path) -> None:
    """All of a torus' gradients are antisymmetric; between two pixels there are none at all."""
    verified = open_store(gradient_graphs.path, verify=True)
    assert [len(verified[name].levels[0].gradients.symmetric_values) > 0 for name in verified] == [
        name != "torus" for name in verified
    ]
    spec = GraphSpec("r2", 2, boundary="periodic", levels=1, gradients=True)
    build(spec, tmp_path / "g.zarr", name="two")
    graph = open_store(tmp_path / "g.zarr", verify=True)["two"].levels[0]
    assert not Gradient(graph)(torch.randn(1, 1, 4)).any()
