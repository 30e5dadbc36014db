"""Docstrings are plain text with code between backticks; other signs of markup are escaped.

In signatures numpy's aliases come expanded; they are put back.
"""

import re

from numpy.typing import ArrayLike
from sphinx.application import Sphinx
from sphinx.util.typing import stringify_annotation

_MARKUP = re.compile(r"(`[^`]*`)|([*|])")
_STORE_ERROR = re.compile(r"^( *)StoreError:")
"""Both packages have it; it is described once."""
_ARRAY_LIKE = stringify_annotation(ArrayLike, mode="smart")
_ND_ARRAY = re.compile(
    r"~?numpy\.ndarray\[tuple\[~?typing\.Any, \.\.\.\], ~?numpy\.dtype\[(.*?)\]\]"
)


def _escape(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Escape the signs of emphasis and substitution, in products, shapes and absolute values."""
    lines[:] = [_MARKUP.sub(lambda m: m[1] or "\\" + m[2], line) for line in lines]
    lines[:] = [_STORE_ERROR.sub(r"\1~cheblienet_graphs.StoreError:", line) for line in lines]


def _shorten(
    _app: Sphinx,
    _what: str,
    _name: str,
    _object: object,
    _options: object,
    arguments: str | None,
    result: str | None,
) -> tuple[str | None, str | None]:
    return _with_aliases(arguments), _with_aliases(result)


def _with_aliases(signature: str | None) -> str | None:
    if signature is None:
        return None
    for expanded in (_ARRAY_LIKE, "npt.ArrayLike"):
        signature = signature.replace(expanded, "~numpy.typing.ArrayLike")
    signature = signature.replace("<factory>", "...")
    return _ND_ARRAY.sub(r"~numpy.typing.NDArray[\1]", signature)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register both, before napoleon, which makes markup of its own."""
    app.connect("autodoc-process-docstring", _escape, priority=400)
    app.connect("autodoc-process-signature", _shorten)
    return {"parallel_read_safe": True}
