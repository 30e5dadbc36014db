"""Cells of points on the sphere, and the exact areas that they share with pixels."""
