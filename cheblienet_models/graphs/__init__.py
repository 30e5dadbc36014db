"""Graphs and pyramids of graphs as modules, and weights that belong to them."""
