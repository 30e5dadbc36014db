"""Metadata documents of which nothing is trusted: bounded, flat, JSON, and of a zarr node."""

import json
import math
import re
from typing import Any

from cheblienet_graphs.errors import StoreError

MAX_METADATA = 4 * 2**20
"""Most bytes of a metadata document."""
MAX_DEPTH = 32
"""Deepest nesting of its lists and objects."""
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
_BRACKET = re.compile(rb"[][{}]")


def parsed_document(contents: bytes, where: str) -> dict[str, Any]:
    """A metadata document from the contents of its file.

    Raises:
        StoreError: it is too large or too deep, not JSON, or not a zarr v3 document.
    """
    if len(contents) > MAX_METADATA:
        raise StoreError(f"{where} has more than {MAX_METADATA:,} bytes, all that is allowed.")
    if _is_too_deep(contents):  # before Python's parser meets it
        raise StoreError(f"{where} is nested more than {MAX_DEPTH} deep, all that is allowed.")
    try:
        document = _DECODER.decode(contents.decode())
    except ValueError as error:
        raise StoreError(f"{where} is not JSON.") from error
    if isinstance(document, dict) and document.get("node_type") in ("group", "array"):
        return document
    raise StoreError(f"{where} is not a zarr v3 document.")


def _finite(text: str) -> float:
    """A number of a document, which may not be NaN or infinite: JSON has no such numbers."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


_DECODER = json.JSONDecoder(parse_constant=_finite, parse_float=_finite)


def _is_too_deep(contents: bytes) -> bool:
    """Check whether lists and objects lie in more of each other than is allowed."""
    if contents.count(b"[") + contents.count(b"{") <= MAX_DEPTH:
        return False
    depth = 0
    for bracket in _BRACKET.finditer(_TEXT.sub(b"", contents)):
        depth += 1 if bracket[0] in b"[{" else -1
        if depth > MAX_DEPTH:
            return True
    return False
