"""Reading a store without zarr: files as arrays, checked before anything computes with them.

`facts` has no tests of its name: it is tested in `test_mutations.py`.
"""
