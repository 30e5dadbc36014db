"""
Neighborhoods of SE(2)
=======================

The edges of one vertex, at four orientations, for an isotropic metric and for eps^2 = 0.1. With a
small eps sideways motion is expensive, so neighborhoods follow the orientation.
"""

# %%
# Two graphs that differ in eps alone.

import tempfile

import matplotlib.pyplot as plt

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot import draw_neighborhood, neighborhood_of, open_graph

folder = tempfile.TemporaryDirectory()
asked = {"isotropic": 1.0, "anisotropic": 0.1}
for name, eps_squared in asked.items():
    spec = GraphSpec("se2", 24, orientations=4, eps_squared=eps_squared, levels=1)
    build(spec, folder.name, name=name)

# %%
# Rows are graphs, columns are orientations. Blue edges stay within the orientation. Orange strokes
# mark neighbors at other orientations, and point along these. The dashed line is the ball of the
# requested metric, the green line the ball that the edges realize. With these weights they differ.

figure, rows = plt.subplots(2, 4, figsize=(9, 5), sharex=True, sharey=True)
for (name, eps_squared), row in zip(asked.items(), rows, strict=True):
    data = neighborhood_of(open_graph(folder.name, name))
    for view, ax in zip(data.views, row, strict=True):
        draw_neighborhood(data, view, ax)
        ax.label_outer()
    row[0].annotate(
        f"eps^2 = {eps_squared:g}", (-0.55, 0.5), xycoords="axes fraction", rotation=90, va="center"
    )
plt.show()

# %%
folder.cleanup()
