"""Builds: levels whose Laplacians are written in blocks into reserved files, by any processes.

A `Level` is picklable and opens its arrays by itself. It has `Rows`, whatever these come from: a
lattice, a part of one, a search or listed edges. A `Sweep` goes once over them and knows all that a
process needs to write one of its blocks. The `Build` sends sweeps through a pool, one after the
other. Rows are kept by whoever writes blocks, and end with the build.

Tested as a whole: `assemble`, `building` and `pipeline` in `test_build.py`, `test_resume.py`,
`test_bytes.py`, `test_conventions.py` and `test_opening.py`, rows of lattices in `test_masked.py`,
which compares them byte for byte with those of a mask of everything, others in
`test_stored_spheres.py`, sweeps and versions in `test_resume.py`, what a level keeps in
`test_released.py`.
"""
