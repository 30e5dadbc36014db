"""
Eigenvalues against the exact ones
==================================

Above are the first eigenvalues of two graphs on a torus, below their errors. With kernel weights,
the default, the error is about the same at every resolution. With Selling's weights the eigenvalues
converge.
"""

# %%
# The same metric, with both kinds of weights.

import tempfile

import matplotlib.pyplot as plt

from cheblienet_graphs import GraphSpec, build
from cheblienet_graphs.plot import draw_spectrum, open_graph, spectrum_of

folder = tempfile.TemporaryDirectory()
figure, axes = plt.subplots(2, 2, figsize=(9, 5), sharex=True, sharey="row")
for weights, column in zip(("kernel", "selling"), axes.T, strict=True):
    spec = GraphSpec("se2", 32, boundary="periodic", weights=weights, levels=1)
    build(spec, folder.name, name=weights)
    draw_spectrum(spectrum_of(open_graph(folder.name, weights), count=30), *column)
    column[0].set_title(f"{weights} weights")
plt.show()

# %%
folder.cleanup()
