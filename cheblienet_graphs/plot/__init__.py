"""Figures of published graphs, drawn with matplotlib, an extra.

Raises:
    CheblienetError: on import, where matplotlib is not installed.
"""

from cheblienet_graphs.errors import CheblienetError

try:
    import matplotlib as mpl  # noqa: F401
except ModuleNotFoundError as error:
    raise CheblienetError(
        f"Figures need matplotlib, which is not installed ({error.name}). "
        "Install it: pip install 'cheblienet[plot]', or pip install matplotlib."
    ) from error
