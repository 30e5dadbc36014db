"""Builds: Laplacians of levels are written in blocks into reserved files, by any processes.

A `LevelPlan` is all that is known of a level before it is written; it is computed once. A
`StagedLevel` is a plan with the arrays that are reserved for it, and goes to other processes, which
map what the plan holds. It has rows, whatever these come from: a lattice, a part of one, a search
or listed edges. A `Sweep` goes once over them: a function that writes one block, and what it is
given. The `Build` sends sweeps through a pool, one after the other. Each process keeps the rows of
the levels that it writes, until the build ends.
"""
