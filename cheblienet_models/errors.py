"""Everything this package raises on purpose, besides ValueError for wrong shapes.

Errors of stores come from `cheblienet_graphs`, which reads the same files.
"""

from cheblienet_graphs.errors import StoreError as StoreError
from cheblienet_graphs.errors import UnknownGraphError as UnknownGraphError
from cheblienet_graphs.errors import UnreadableError as UnreadableError
from cheblienet_graphs.errors import one_line as one_line
from cheblienet_graphs.errors import quoted as quoted


class MissingEigenpairsError(StoreError, AttributeError):
    """A graph has no stored eigenpairs; also an AttributeError, so that hasattr() is False."""
