"""Edge weights: the paper's kernels, and weights consistent with the metric."""
