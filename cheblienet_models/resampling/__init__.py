"""Images in latitude and longitude on the points of a sphere and back, as sparse matrices."""

from cheblienet_models.resampling.grids import DataArray, regular_grid
from cheblienet_models.resampling.layers import LatLonToVertices, VerticesToLatLon

__all__ = ["DataArray", "LatLonToVertices", "VerticesToLatLon", "regular_grid"]
