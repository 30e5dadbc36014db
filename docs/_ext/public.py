"""`.. public:: cheblienet_graphs` documents every public name of a module from its docstring.

Lines below it name, by their places in the package, further classes that are returned or raised.
"""

import inspect
from importlib import import_module

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

_LOG = getLogger(__name__)


class Public(SphinxDirective):
    """An entry for each name in `__all__`: functions, then classes, then errors.

    A name without a docstring of its own is warned of, which fails a strict build.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the entries."""
        package = self.arguments[0].partition(".")[0]
        module = import_module(self.arguments[0])
        objects = {name: getattr(module, name) for name in module.__all__}
        for name, value in objects.items():
            if not _own_docstring(value):
                _LOG.warning("%s.%s has no docstring", module.__name__, name)
        lines = [f".. py:module:: {module.__name__}", ""]
        for name in sorted(objects, key=lambda name: _kind(objects[name])):
            kind = ("function", "class", "exception", "data")[_kind(objects[name])]
            home = getattr(objects[name], "__module__", package).partition(".")[0]
            if home == package:
                lines += [f".. auto{kind}:: {module.__name__}.{name}", ""]
            else:  # described there
                lines += [f".. py:{kind}:: {name}", ""]
                lines += [f"   The same as :py:obj:`{home}.{name}`.", ""]
        lines += [f".. autoclass:: {package}.{name}\n" for name in self.content]
        return self.parse_text_to_nodes("\n".join(lines))


def _kind(value: object) -> int:
    if inspect.isroutine(value):
        return 0
    if not inspect.isclass(value):
        return 3
    return 2 if issubclass(value, Exception) else 1


def _own_docstring(value: object) -> str | None:
    """The docstring of a function or class, not one that it inherits; of data that of its type."""
    if inspect.isclass(value):
        return vars(value).get("__doc__")
    return getattr(value, "__doc__", None)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("public", Public)
    return {"parallel_read_safe": True}
