"""Exact engines that find the same neighbors: stencils, a pruned search, brute force by KeOps.

Tested as a whole: all engines and the rule against all pairs in `test_pruned.py`,
`test_stencils.py` and `test_space.py`, offsets, searches and clouds of vertices in
`test_extremes.py`, `test_pruned.py` and `test_positions.py`, components in
`tests/graphs/assembly/test_checks.py` and `tests/graphs/weights/test_boundary.py`, edges inside
masks and between samplings in `tests/graphs/assembly/test_masked.py` and `test_maps.py`.
"""
