"""The Laplacian of one level, written in blocks into reserved files by any number of processes.

A `Sweep` goes once over all lines of a lattice, base points or vertices, and knows all that a
process needs to write one of its blocks. The `Driver` sends sweeps through a pool, one after the
other. What is worth keeping from block to block, `LatticeRows` or `SearchedRows`, lies in the
`Kept` that whoever writes a block is handed, and ends with the build.
"""
