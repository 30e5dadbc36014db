"""
Neighborhoods of SE(2)
=======================

The edges of one vertex, at four orientations: for an isotropic metric, and for eps^2 = 0.1 with
kernel weights and with Selling's. A small eps penalizes sideways motion, so neighborhoods follow
the orientation.
"""

# %%
# Three graphs: two that differ in eps, two that differ in their weights.

import tempfile

import matplotlib.pyplot as plt

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot import draw_neighborhood, neighborhood_of, open_graph

folder = tempfile.TemporaryDirectory()
asked = {
    "isotropic": ("kernel", 1.0),
    "kernel": ("kernel", 0.1),
    "selling": ("selling", 0.1),
}
for name, (weights, eps_squared) in asked.items():
    fields = {"orientations": 4, "eps_squared": eps_squared, "weights": weights, "levels": 1}
    build(GraphSpec("se2", 24, **fields), folder.name, name=name)

# %%
# A row for each graph, a column for each orientation. Blue edges stay within the orientation;
# orange strokes stand at neighbors of other ones, along theirs. Dashed is the ball of the metric
# that was asked for, green the one that the edges realize. With kernel weights the two differ, and
# how depends on the orientation; Selling's weights realize what was asked for, with fewer edges.

figure, rows = plt.subplots(3, 4, figsize=(9, 7.2), sharex=True, sharey=True)
for (name, (weights, eps_squared)), row in zip(asked.items(), rows, strict=True):
    data = neighborhood_of(open_graph(folder.name, name))
    for view, ax in zip(data.views, row, strict=True):
        draw_neighborhood(data, view, ax)
        ax.label_outer()
    row[0].annotate(
        f"{weights}, eps^2 = {eps_squared:g}",
        (-0.55, 0.5),
        xycoords="axes fraction",
        rotation=90,
        va="center",
    )
rows[0, 0].set(xlim=(-2.6, 2.6), ylim=(2.6, -2.6))
plt.show()

# %%
folder.cleanup()
