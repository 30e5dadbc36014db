"""
Lines enhanced in noise
=======================

Two lines cross in noise. The picture is lifted to SE(2), where each line has its own orientation.
Diffusion runs along the lines. The maximum over orientations projects the result back.
"""

# %%
# The picture, and a graph on which diffusion stays on a line.

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import torch

from cheblienet_graphs import GraphSpec, open_or_build
from cheblienet_models import OrientedLift, Project

SIDE = 64
y, x = np.mgrid[:SIDE, :SIDE].astype(float)
angles, places = (0.9, -0.4), ((30, 32), (32, 34))
away = [
    (x - right) * np.sin(angle) - (y - down) * np.cos(angle)
    for angle, (right, down) in zip(angles, places, strict=True)
]
lines = np.exp(-(np.abs(away).min(axis=0) ** 2) / 4)
noise = np.random.default_rng(0).standard_normal(lines.shape)
picture = torch.tensor(lines + 0.6 * noise, dtype=torch.float32)

folder = tempfile.TemporaryDirectory()
spec = GraphSpec(
    "se2", SIDE, orientations=16, eps_squared=0.01, alpha=40, weights="selling", levels=1
)
graph = open_or_build(spec, folder.name).levels[0]

# %%
# Lift, diffuse for 32 squared pixels, project. The last panel has the sum over orientations
# instead: an isotropic blur of the picture.

scores = OrientedLift(graph)(picture[None, None])
time = 32 / SIDE**2 * graph.eigenvalue_scale
diffused = graph.diffuse(scores, time, density=True, tolerance=1e-4)
panels = {
    "the lines": lines,
    "with noise": picture,
    "enhanced: maximum": Project(graph, "max")(diffused).view(SIDE, SIDE),
    "sum instead": Project(graph, "sum")(diffused).view(SIDE, SIDE),
}
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6))
for ax, (title, image) in zip(axes, panels.items(), strict=True):
    ax.imshow(torch.as_tensor(image).numpy(), cmap="gray")
    ax.set_title(title)
    ax.set_axis_off()
plt.show()

# %%
folder.cleanup()
