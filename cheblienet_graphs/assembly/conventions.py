"""How xarray reads graphs on s2: names of dimensions, and attributes of the CF conventions.

CF's grid mapping of HEALPix (1.13) is an array without elements, `crs`, whose attributes say how
pixels are numbered: `indexing_scheme`, and `refinement_level`, the base-2 logarithm of nside. xdggs
reads it, and takes no other attributes there. Pixels of a part of the sphere have their numbers in
`base_index`.
"""

from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.writer import UNNAMED, Named

SCHEMA = "1.6"
"""The first whose arrays may have names of dimensions."""
COORDINATES = "coordinates"
VERTEX, FREQUENCY = "vertex", "frequency"
ARRAYS = {
    COORDINATES: ("colatitude and longitude", VERTEX, "coordinate"),
    "degree": ("sum of the weights of the edges", VERTEX),
    "area": ("area in units of the mean area", VERTEX),
    layout.BASE_INDEX: ("number of the point in the full sampling", VERTEX),
    "eigenvalues": ("smallest eigenvalues of the Laplacian", FREQUENCY),
    "eigenvectors": ("eigenvectors of the Laplacian", VERTEX, FREQUENCY),
}
"""Array -> its long name and its dimensions."""
CRS = "crs"
"""The grid mapping of the other arrays of vertices."""


def named(spec: GraphSpec, name: str) -> Named:
    """How an array of the vertices of a level is read; on other manifolds it has no names."""
    if spec.manifold != "s2":
        return UNNAMED
    long_name, *dimensions = ARRAYS[name]
    attributes = {"long_name": long_name, "units": "radian" if name == COORDINATES else "1"}
    if VERTEX in dimensions and name != COORDINATES:
        listed = [COORDINATES, *[name] * (name == layout.BASE_INDEX)]  # which is one itself
        attributes["coordinates"] = " ".join(listed)
    if VERTEX in dimensions and spec.nside is not None:
        attributes["grid_mapping"] = CRS
        if name == layout.BASE_INDEX:
            attributes["standard_name"] = "healpix_index"
    return Named(tuple(dimensions), attributes)


def grid_mapping(spec: GraphSpec, level: int) -> Named | None:
    """The attributes of `crs`, which graphs on HEALPix pixels of s2 have."""
    if spec.manifold != "s2" or spec.nside is None:
        return None
    refinement = (spec.nside >> level).bit_length() - 1
    scheme = {"refinement_level": refinement, "indexing_scheme": "nested"}
    return Named(("none",), {"grid_mapping_name": "healpix"} | scheme)


def schema(spec: GraphSpec) -> str:
    """The schema of a version, the oldest that has all that is written."""
    if spec.manifold != "s2":
        return spec.schema
    return max(spec.schema, SCHEMA, key=layout.SCHEMAS.index)
