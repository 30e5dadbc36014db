"""Layers between images in latitude and longitude and the points of a sphere.

Degrees throughout: latitude 90 is the north pole, colatitude beta = 0; longitude grows eastwards
and is gamma, modulo 360. A signal on the sphere has one value a point: `Lift` repeats it over
orientations and `Project` reduces these.
"""

import math

import numpy as np
import torch
from torch import Tensor

from cheblienet_models.resampling.grids import (
    SPACING,
    DataArray,
    field_axes,
    field_coordinates,
    span,
)
from cheblienet_models.resampling.resampler import Resampler


class LatLonToVertices(Resampler):
    """From images in latitude and longitude to the points of a level.

    Methods: "bilinear" interpolates in latitude and longitude, across the seam too; from the last
    row to a pole, which has that row's mean. "conservative" takes the mean over a point's cell of
    an image that is constant in each pixel, so that a grid coarser than the points shows. It keeps
    integrals; over points they are sums with the cells' areas: Graph.area, unless areas of points
    were given. Cells are HEALPix' own pixels, bands of equiangular grids, with limits halfway, and
    of Gaussian ones, as high as their weights; else Voronoi's. Areas that they share with pixels
    are exact to rounding. "nearest" takes the pixel that a point is in, of any dtype: for labels;
    on a border it takes either. All of them keep constants.

    A grid may be a region: its pixels end half a step beyond its outermost latitudes and
    longitudes, and nothing is extrapolated farther; where it goes once around, the outermost
    latitudes, at most one step from a pole, reach to it. Points beyond have no source (with
    "conservative" where no pixel touches their cell), which is an error unless `skipna` or `fill`
    is given: then they become `fill`.

    With `skipna=True` fields may have NaN or UNSEEN: averages are over what is valid, with weights
    that sum to 1 there, and a point without valid sources becomes `fill`, too. Resampling the
    field's validity, 1.0 or 0.0, gives the share of each average that was valid: with
    "conservative", sums with Graph.area times that share are integrals over the valid part.

    With spin=s fields have two components, (B, 2 C, lat, lon), which turn with the frames between
    pixel and point: winds have s = 1, polarization has s = 2. The second component is a quarter
    turn from the first, south toward east: (south, east), (east, north) as of winds (u, v), Q and U
    of COSMO; U of the IAU has the other sign. What is averaged is known where both components are.

    On a level with a mask, cells belong to the full sampling. Given points, of which a store has
    only the ones inside, are completed by rings of points, wherever a place is farther from the
    nearest point inside than 1.5 roots of that point's area.

    Its matrix is built once a process for each combination of points, grid and method. Like a
    graph's Laplacian it is not saved with checkpoints, and stays float32 in networks of half
    precision.

    Args:
        pyramid: on the manifold s2 or so3.
        latitudes: (lat,) degrees in [-90, 90], descending (north up) or ascending, as the image's
            rows are; not necessarily equally far apart. A pixel reaches halfway to the next ones.
        longitudes: (lon,) degrees, ascending, not necessarily equally far apart, from anywhere: [0,
            360), [-180, 180), or of a region, which may cross the date line, 170, ..., 190, or be
            cut by the seam, 0, 10, 350. The grid goes once around unless a step, also that from the
            last to the first, is over 1.5 times as wide as its neighbors. Latitudes with such a
            hole, and longitudes with several, are refused.
        method: "bilinear", "conservative" or "nearest".
        level: of the pyramid, 0 the finest.
        skipna: whether to leave NaN and UNSEEN out instead of refusing them.
        fill: the value of points without a source; NaN where it is left out. Integers, which have
            no NaN, need one.
        spin: of the fields, 0 of scalars.

    Raises:
        ValueError: another manifold, level, method or grid; coordinates in radians; points beyond
            the grid, without skipna or fill.

    Example:
        >>> sphere = open_or_build(GraphSpec("s2", nside=4, weights="voronoi"), "graphs.zarr")
        >>> latitudes, longitudes = np.arange(-85, 90, 10.0), np.arange(0, 360, 10.0)
        >>> regrid = LatLonToVertices(sphere, latitudes, longitudes)
        >>> regrid(torch.ones(1, 1, 18, 36)).shape
        torch.Size([1, 1, 192])
    """

    _direction = "to points"

    def forward(self, x: Tensor | DataArray) -> Tensor:
        """(B, C, lat, lon) -> (B, C, points), differentiable; also of one sample, without B.

        With a spin channels are components, the first ones of all fields, then the second ones.
        An xarray.DataArray, of scalars, may have its dimensions lat or latitude and lon or
        longitude, with the coordinates of this module, anywhere; others come first, in their order:
        (..., points).

        The result has the wider of x's dtype and the matrix's, of sums in float64; with "nearest"
        that of x. Without skipna fields are searched for missing values, in one pass, which forces
        a synchronization on a GPU. Gradients are finite, and 0 where x is missing.

        Raises:
            ValueError: x has another shape, other coordinates, missing values without skipna, a
                dtype without fractions where averages are taken, or one without the value to fill
                in.
        """
        if not isinstance(x, Tensor):
            if self.spin:
                raise ValueError(
                    f"spin={self.spin} takes a tensor of both components. Got {type(x).__name__}."
                )
            field = self._field(x)
            points = self.forward(field.reshape(1, math.prod(field.shape[:-2]), *self.shape))
            return points.reshape(*field.shape[:-2], self.num_points)
        words = "(batch, channels, latitudes, longitudes), or an xarray.DataArray"
        return self._resampled(x, self.shape, words)

    def _field(self, array: DataArray) -> Tensor:
        """(..., lat, lon) on the module's device."""
        latitudes, longitudes = field_coordinates(array)
        tolerance = SPACING * np.diff(self._longitudes).min()
        for name, found, own in (
            ("latitudes", latitudes, self._latitudes),
            ("longitudes", longitudes, self._longitudes),
        ):
            if found.shape != own.shape or not np.abs(found - own).max() <= tolerance:
                raise ValueError(
                    f"The DataArray's {name} must be the module's, {span(own)}. Got "
                    f"{span(found)}: sort or shift it, or use LatLonToVertices.from_dataarray."
                )
        values = np.moveaxis(np.asarray(array.values), field_axes(array), (-2, -1))
        return torch.tensor(values.astype(values.dtype.newbyteorder("="))).to(self.values.device)


class VerticesToLatLon(Resampler):
    """From the points of a level to images in latitude and longitude.

    Methods: "bilinear" interpolates linearly on the facet of the points' convex hull that a pixel's
    center is on: exact at the points, and nowhere above or below the corners. A facet that is no
    triangle, such as a rectangle of a lattice, is cut along all its diagonals, and the mean taken,
    which keeps the lattice's symmetries.
    "conservative" takes the mean over a pixel of a signal that is constant in each point's cell,
    which keeps integrals, as for LatLonToVertices. "nearest" takes the nearest point, of any
    dtype: for labels. All of them keep constants.

    With spin=s fields have two components, (B, 2 C, points), as for LatLonToVertices. At a pole
    each pixel has its own frame, that of its longitude.

    A grid may be a region, as for LatLonToVertices. On a level with a mask, the domain is the cells
    of the points inside, which are found as LatLonToVertices says: a pixel with its center
    ("conservative": its whole area) outside has no source and becomes `fill`, and corners of facets
    that are outside count nothing. With `skipna=True` signals may have NaN or UNSEEN, which
    averages leave out; a pixel without valid sources becomes `fill`, too.

    Args:
        pyramid: on the manifold s2 or so3.
        latitudes: as of LatLonToVertices.
        longitudes: as of LatLonToVertices.
        method: "bilinear", "conservative" or "nearest".
        level: of the pyramid, 0 the finest.
        skipna: whether to leave NaN and UNSEEN out instead of refusing them.
        fill: the value of pixels without a source; NaN where it is left out. Integers, which have
            no NaN, need one where there are such pixels.
        spin: of the fields, 0 of scalars.

    Raises:
        ValueError: another manifold, level, method or grid; coordinates in radians; a grid and
            points that have no place in common; "bilinear" from points that leave half
            of the sphere empty.
    """

    _direction = "to grid"

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, points) -> (B, C, lat, lon), differentiable; also of one sample, without B.

        The result has the wider of x's dtype and the matrix's, of sums in float64; with "nearest"
        that of x. Without skipna fields are searched for missing values, in one pass, which forces
        a synchronization on a GPU. Gradients are finite, and 0 where x is missing.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape or device, missing values without skipna, a dtype
                without fractions where averages are taken, or one without the value to fill in.
        """
        words = "(batch, channels, points of one orientation)"
        signals = self._resampled(x, (self.num_points,), words)
        return signals.reshape(*signals.shape[:-1], *self.shape)
