"""Edge weights: the paper's kernels, and those that have the second moments of a metric."""
