"""How xarray reads graphs on s2: names of dimensions, and attributes of the CF conventions.

CF's grid mapping of HEALPix (1.13) says how pixels are numbered: `indexing_scheme` and
`refinement_level`, the logarithm of nside. It is an attribute of the coordinates, as pixels need no
variable of their own where there are all of them. xdggs reads the same of the pixels' indices in
`grid_name` and `level`.
"""

from cheblienet_graphs.spec import GraphSpec
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.writer import UNNAMED, Named

SCHEMA = "1.6"
"""The first whose arrays may have names of dimensions."""
COORDINATES = "coordinates"
VERTEX, FREQUENCY = "vertex", "frequency"
DIMENSIONS = {
    COORDINATES: (VERTEX, "coordinate"),
    "degree": (VERTEX,),
    "area": (VERTEX,),
    layout.BASE_INDEX: (VERTEX,),
    "eigenvalues": (FREQUENCY,),
    "eigenvectors": (VERTEX, FREQUENCY),
}
LONG_NAMES = {
    COORDINATES: "colatitude and longitude",
    "degree": "sum of the weights of the edges",
    "area": "area in units of the mean area",
    layout.BASE_INDEX: "number of the point in the full sampling",
    "eigenvalues": "smallest eigenvalues of the Laplacian",
    "eigenvectors": "eigenvectors of the Laplacian",
}
AUXILIARY = (COORDINATES, layout.BASE_INDEX)
"""Arrays that are coordinates of the others."""


def named(spec: GraphSpec, name: str, level: int) -> Named:
    """How an array of the vertices of a level is read; on other manifolds it has no names."""
    if spec.manifold != "s2":
        return UNNAMED
    attributes = {"long_name": LONG_NAMES[name], "units": "1"}
    if name == COORDINATES:
        attributes["units"] = "radian"
    if VERTEX in DIMENSIONS[name] and name not in AUXILIARY:
        masked = [layout.BASE_INDEX] * (spec.mask is not None)
        attributes["coordinates"] = " ".join([COORDINATES, *masked])
    return Named(DIMENSIONS[name], attributes | _healpix(spec, name, level))


def schema(spec: GraphSpec) -> str:
    """The schema of a version, the oldest that has all that is written."""
    if spec.manifold != "s2":
        return spec.schema
    return max(spec.schema, SCHEMA, key=layout.SCHEMAS.index)


def _healpix(spec: GraphSpec, name: str, level: int) -> layout.Attributes:
    """The numbering of HEALPix' pixels."""
    if spec.nside is None:
        return {}
    refinement = (spec.nside >> level).bit_length() - 1
    scheme = {"indexing_scheme": "nested"}
    if name == COORDINATES:
        return {"grid_mapping_name": "healpix", "refinement_level": refinement} | scheme
    if name == layout.BASE_INDEX:
        index = {"standard_name": "healpix_index", "grid_mapping": COORDINATES}
        return index | {"grid_name": "healpix", "level": refinement} | scheme
    return {"grid_mapping": COORDINATES} if VERTEX in DIMENSIONS[name] else {}
