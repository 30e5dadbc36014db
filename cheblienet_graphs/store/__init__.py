"""The on-disk format: zarr v3 groups of raw single-chunk arrays, versioned, checksummed."""
