"""Graphs and pyramids of graphs as modules, and weights that belong to them.

`coupled.py` and `exports.py` are tested by what `Graph` and `Pyramid` make with them, `test_pyg.py`
and `test_neural_lam.py`; `identity.py` and `mapped.py` with checkpoints and opening.
"""
