"""
Heat on SE(2) and on the sphere
===============================

An impulse at one vertex diffuses. On SE(2) with eps^2 = 0.1 heat spreads along the orientation of
the vertex. With eps = 1, and on the plane, it spreads evenly. On the sphere it is compared with the
exact kernel.
"""

# %%
# Three graphs: the plane, SE(2) with eps = 1, and SE(2) with the same xi and eps^2 = 0.1. ``clg
# plot heat plane isotropic anisotropic`` draws the same. Rows are graphs, columns are orientations.

import tempfile

import matplotlib.pyplot as plt

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot import draw_heat, heat_of, open_graph

folder = tempfile.TemporaryDirectory()
asked = {
    "plane": {"manifold": "r2"},
    "isotropic": {"manifold": "se2", "orientations": 6, "eps": 1, "xi": 0.0765},
    "anisotropic": {"manifold": "se2", "orientations": 6, "eps_squared": 0.1, "xi": 0.0765},
}
for name, fields in asked.items():
    spec = GraphSpec(size=32, weights="selling", levels=1, **fields)
    build(spec, folder.name, name=name)
draw_heat(plt.figure(figsize=(9, 4.5)), heat_of(*(open_graph(folder.name, name) for name in asked)))
plt.show()

# %%
# The sphere. Points on the curve have the exact heat.

build(GraphSpec("s2", subdivisions=4, levels=1), folder.name, name="sphere")
draw_heat(plt.figure(figsize=(9, 3.2)), heat_of(open_graph(folder.name, "sphere")))
plt.show()

# %%
folder.cleanup()
