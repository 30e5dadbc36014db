"""Metadata of zarr nodes: JSON read without surprises, compared with the one form that is ours."""

import json
import math
from collections.abc import Sequence
from typing import Any

Document = dict[str, Any]
"""A JSON object."""


def parsed(contents: bytes) -> Any:
    """The JSON value that some bytes are.

    Raises:
        ValueError: they are not UTF-8 or not JSON, or hold a number that is NaN or infinite.
        RecursionError: they are nested too deep for Python's parser.
    """
    return json.loads(contents.decode("utf-8"), parse_constant=_finite, parse_float=_finite)


def deeper_than(document: Any, most: int) -> bool:
    """Whether values lie deeper in one another; looked at level by level, without recursion."""
    level = [document]
    for _ in range(most + 1):
        level = [
            child
            for value in level
            if isinstance(value, dict | list)
            for child in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def array_document(shape: Sequence[int], dtype: str) -> Document:
    """Metadata of a raw little-endian array of one chunk, attributes left out."""
    return {
        "shape": list(shape),
        "data_type": dtype,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": [max(1, n) for n in shape]},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0 if dtype.startswith("float") else 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def same(found: Any, expected: Any) -> bool:
    """Whether two JSON values are equal, where 1, 1.0 and true are three different ones."""
    if type(found) is not type(expected):
        return False
    if isinstance(expected, dict):
        keys = found.keys() == expected.keys()
        return keys and all(same(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        lengths = len(found) == len(expected)
        return lengths and all(map(same, found, expected))
    return bool(found == expected)


def _finite(text: str) -> float:
    """A number of a document, which may not be NaN or infinite: JSON has no such numbers."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value
