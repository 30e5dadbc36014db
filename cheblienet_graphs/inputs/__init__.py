"""What users bring along: masks, regions and points, from files or from arrays.

`files` and `netcdf` are tested with the files of masks, `volumes` with NIfTI's.
"""
