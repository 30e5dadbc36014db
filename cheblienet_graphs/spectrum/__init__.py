"""Eigenvalues of Laplacians: of the stored graphs, and the exact ones of their operators.

`symmetric` is tested in `test_lanczos.py` and `test_numeric.py`.
"""
