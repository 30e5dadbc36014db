"""Units of lengths on the axes of figures."""

import math

from cheblienet_graphs.figures.places import Places


def spacing_in_words(places: Places) -> str:
    """The unit of lengths that are counted in spacings of points: 'pixels', '8.1° of arc'."""
    if places.lattice is not None:
        if places.lattice.spacings:
            return "mean voxel sides"
        return "pixels" if places.dimension == 2 else "voxels"
    return "spacings" if places.flat else f"{math.degrees(places.spacing):.2g}° of arc"
