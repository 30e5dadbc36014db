"""What users bring along: masks, regions and points, from files or from arrays.

`files` is tested with the files of masks.
"""
