"""Exact engines that find the same neighbors: stencils, a pruned search, brute force by KeOps."""
