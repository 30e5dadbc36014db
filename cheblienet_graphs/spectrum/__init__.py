"""Eigenvalues of Laplacians: of the stored graphs, and the exact ones of their operators."""
