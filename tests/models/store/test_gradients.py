"""Stored gradients: damaged, hostile and contradictory ones are refused, with one line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import writable_copy
from sealing import reseal, reseal_array

from cheblienet_models import Store, StoreError, open_store

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


def every(of: Any) -> Callable[[Path], None]:
    return lambda version: reseal(version, lambda clg: clg["levels"][0].update(gradients=of))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        *(
            (spec(gradients=value), "must have gradients true, on r2, r3")
            for value in (1, "yes", None)
        ),
        *(
            (spec(manifold=value), "must have gradients true, on r2, r3")
            for value in ("r3s2", ["se2"])
        ),
        *((every(value), "must have 3 norms of gradients") for value in (None, [1], "nnz", {})),
        *(
            (facts(norms=value), r"must have 3 norms of gradients, finite numbers from 0\. Got")
            for value in (None, 1, [1, 1], [1, 1, -1], [1, 1, "1"], [1, True, 1], [1, 1, 1e300])
        ),
        *(
            (facts(nnz=value), rf"{FIELDS} must have .* entries, as the facts")
            for value in (1, None, True, 3.0, "3", -1)
        ),
        (facts(symmetric_nnz=1), f"{SYMMETRIC} must have 1 entries, as the facts of its level say"),
        (spec(manifold="r2"), r"norms|fields must have shape"),
        (array(f"{FIELDS}/indices", lambda a: a.__setitem__(0, 10**6)), "columns reach outside"),
        (array(f"{FIELDS}/indptr", lambda a: a.__setitem__(1, -1)), "row pointers do not ascend"),
        (array(f"{SYMMETRIC}/indices", lambda a: a.__setitem__(0, 200)), "do not ascend in every"),
    ],
)
def test_refused_where_opened(version: Path, change: Callable[[Path], None], message: str) -> None:
    change(version)
    refused(version, message, verify=False)


@pytest.mark.parametrize("part", ["fields", "symmetric"])
def test_missing_matrices(version: Path, part: str) -> None:
    (version / "levels/0/gradients" / part).rename(version / "elsewhere")
    refused(version, f"gradients/{part}", verify=False)


def one(value: float) -> Callable[[np.ndarray], object]:
    return lambda values: values.__setitem__(5, value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            array(f"{FIELDS}/data", one(np.nan)),
            "The forward gradients of .* must be finite, be 0 on",
        ),
        (array(f"{FIELDS}/data", one(0.5)), "The forward gradients of .* must be finite, be 0 on"),
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


def test_parts_that_are_left_out(gradient_graphs: Store) -> None:
    """All of a torus' gradients are antisymmetric."""
    verified = open_store(gradient_graphs.path, verify=True)
    assert set(verified) == {verified[name].name for name in verified}
    gradients = verified["torus"].levels[0].gradients
    assert len(gradients.symmetric_values) == 0
    assert not (gradient_graphs.path / "torus/v001" / SYMMETRIC).exists()
