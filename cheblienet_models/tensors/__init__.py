"""Tensors as every room uses them: memory layout, precision, sparse matrices, finite values."""
