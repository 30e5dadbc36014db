"""Everything this package raises on purpose, besides ValueError for wrong shapes."""


class StoreError(Exception):
    """A store or graph can't be opened, isn't valid, or isn't the one that was asked for."""


class MissingEigenpairsError(StoreError, AttributeError):
    """A graph has no stored eigenpairs; also an AttributeError, so that hasattr() is False."""
