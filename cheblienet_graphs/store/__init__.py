"""The on-disk format: zarr v3 groups of raw single-chunk arrays, versioned, checksummed.

Files that have no tests of their name: `layout` and `writer` are tested in
`test_publishing.py` and `test_verify.py`, `reader` in `test_agreement.py` and `test_facts.py`.
"""
