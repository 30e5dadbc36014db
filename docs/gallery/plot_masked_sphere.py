"""
A masked field on the sphere
============================

A field on latitudes and longitudes is missing on two continents. It is resampled to a graph of the
sea, diffused there, and resampled to the grid. No edge ends on land.
"""

# %%
# The field, and a graph of where it is known.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import torch

from cheblienet_graphs import GraphSpec, LatLonMask, open_or_build
from cheblienet_models import LatLonToVertices, VerticesToLatLon

latitudes, longitudes = np.arange(88.0, -90, -4), np.arange(2.0, 360, 4)
north, east = np.meshgrid(latitudes, longitudes, indexing="ij")
land = (abs(north - 25) < 25) & (abs(east - 60) < 40)
land |= (abs(north) < 40) & (abs(east - 280) < 25)
field = 28 * np.cos(np.radians(north)) ** 2
field += 3 * np.random.default_rng(0).standard_normal(field.shape)
field[land] = np.nan

folder = tempfile.TemporaryDirectory()
sea = LatLonMask(~land, latitudes, longitudes)
spec = GraphSpec("s2", subdivisions=4, levels=1, mask=sea, weights="voronoi")
pyramid = open_or_build(spec, folder.name)
graph = pyramid.levels[0]

# %%
# To the vertices, diffused, and back.

to_vertices = LatLonToVertices(pyramid, latitudes, longitudes, "conservative", skipna=True)
to_grid = VerticesToLatLon(pyramid, latitudes, longitudes)
signal = to_vertices(torch.tensor(field, dtype=torch.float32)[None, None])
smooth = graph.diffuse(signal, 0.01 * graph.eigenvalue_scale, density=True)

# %%
# Left is the field, in the middle its vertices, right the diffused field on the grid. Land is gray.

figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), sharex=True, sharey=True)
limits = {"vmin": -5, "vmax": 35, "cmap": "cividis"}
box = {"extent": (0, 360, -90, 90), "aspect": "auto"}
axes[0].imshow(field, **box, **limits)
beta, gamma = graph.coordinates[:, -2:].numpy().T
longitudes, latitudes = np.degrees(gamma) % 360, 90 - np.degrees(beta)
image = axes[1].scatter(longitudes, latitudes, 3, signal[0, 0].numpy(), **limits)
axes[2].imshow(to_grid(smooth)[0, 0].numpy(), **box, **limits)
for ax, title in zip(axes, ("field", "on the graph", "diffused"), strict=True):
    ax.imshow(np.where(land, 0.8, np.nan), **box, cmap="gray", vmin=0, vmax=1, zorder=0)
    ax.set(title=title, xlabel="longitude", xticks=range(0, 361, 90), yticks=range(-90, 91, 45))
axes[0].set_ylabel("latitude")
figure.colorbar(image, ax=axes, label="degrees")
plt.show()

# %%
folder.cleanup()
