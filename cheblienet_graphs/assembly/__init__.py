"""The Laplacian of one level, written in blocks into reserved files by any number of processes.

A sweep goes once over all lines of a lattice, base points or vertices. `LatticeRows` and
`SearchedRows` are what the sweeps of the two kinds of levels do with one block; a `Job` is all that
a process needs to know to do one; the `Driver` sends sweeps through a pool, one after the other.
"""
