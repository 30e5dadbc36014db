"""Samplings of the manifolds: points, areas, symmetries, parents and children."""
