"""Names and titles of all figures, which can be listed without matplotlib."""

TITLES = {
    "neighbourhood": "The neighbourhood of one vertex, to scale",
    "spectrum": "The smallest eigenvalues and the exact ones",
    "heat": "Heat from an impulse at one vertex",
    "equivariance": "A random layer on a turned input",
    "eigenmaps": "The smoothest eigenfunctions",
    "pooling": "Pooling and unpooling",
    "subgraphs": "Random sub-graphs, as training draws them",
    "degrees": "Numbers of neighbours, and weights of edges",
    "sparsity": "The sparsity pattern of the Laplacian",
}
"""By name, in order of worth, which is that of the report; each is drawn by a module of `plot`."""
