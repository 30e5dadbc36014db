"""Sparse matrices in blocks of rows: the Laplacian, products, exact sums."""
