"""Pools that do the blocks of a build: this process, others of this machine, a Dask cluster.

Scheduling and retrying are the libraries' business. Blocks write to files that all workers see, and
hand back a few numbers.
"""
