"""Builds: levels whose Laplacians are written in blocks into reserved files, by any processes.

A `LevelPlan` is all that is known of a level before it is written; it is computed once. A
`StagedLevel` is a plan with the arrays that are reserved for it, and goes to other processes, which
map what the plan holds. It has rows, whatever these come from: a lattice, a part of one, a search
or listed edges. A `Sweep` goes once over them: a function that writes one block, and what it is
given. The `Build` sends sweeps through a pool, one after the other. Rows are kept by whoever writes
blocks, and end with the build.

Tested as a whole: `assemble`, `building` and `pipeline` in `test_build.py`, `test_resume.py`,
`test_bytes.py`, `test_conventions.py` and `test_opening.py`, rows of lattices in `test_masked.py`,
which compares them byte for byte with those of a mask of everything, others in
`test_stored_spheres.py`, sweeps and versions in `test_resume.py`, what a level keeps in
`test_released.py`.
"""
