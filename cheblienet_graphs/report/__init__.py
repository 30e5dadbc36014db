"""The report on a published graph, and how consistent it is with its metric."""
