"""Reading a store without zarr: files as arrays, checked before anything computes with them."""
