"""Edge weights: the paper's kernels, and those that make a graph true to its metric."""
