"""The options that say what to build; each has a field of GraphSpec of the same name."""

from cheblienet_cli.options import Decorator, option, together
from cheblienet_graphs import limits
from cheblienet_graphs.manifolds import Manifold
from cheblienet_graphs.weights import WEIGHTINGS

Described = dict[str, str]
"""Option and what stands for its value, "--alpha X" -> help."""

RANDOM = {
    "--points N": f"Points of a random sampling, in {limits.POINTS}.",
    "--seed S": f"Seed of a random sampling, in {limits.SEED}.  [default: 0]",
}
BOUNDARY = {
    f"--boundary {'|'.join(limits.BOUNDARIES)}": "Periodic identifies opposite sides.  "
    "[default: open]"
}
POINTS = {
    "--points-file FILE": "The points: .csv with a header line {columns}, .npz with these "
    "names, or .npy in this order; an optional column area (default: areas of Voronoi cells). Give "
    "it once for each level, finest first."
}
EDGE = {
    "--mask-edge pixels|cut": "pixels: each is inside or outside. cut: each counts by its part "
    "inside, so that spectra are of second order; gray values are such parts.  [default: pixels]"
}
PLANE = {
    "--size N|WxH": f"Pixels of the finest level of a lattice, width x height, in {limits.SIDE}.  "
    "[default: that of the mask]",
    "--mask FILE": "Keep the pixels that are inside: gray image or .npy, row 0 at y = 0. Inside is "
    "True, or above half of the range, as 128 is of 255. Or GeoJSON, polygons in pixels.",
    **EDGE,
    **RANDOM,
    **POINTS,
    "--domain X0,Y0,X1,Y1": "Box around the given points; lengths are divided by its width.  "
    "[default: their bounding box]",
    **BOUNDARY,
}
SPACE = {
    "--size N|WxHxD": f"Voxels of the finest level, width x height x depth, in {limits.SIDE}.  "
    "[default: that of the mask]",
    "--mask FILE": "Keep the voxels that are inside: .npy, (depth, height, width), True inside, or "
    "NIfTI, .nii or .nii.gz, not 0 inside; its affine gives the spacing.",
    **EDGE,
    "--spacing X,Y,Z": "Sides of a voxel, in any unit; lengths are in widths of the volume.  "
    "[default: those of the mask, or all equal]",
    **BOUNDARY,
}
AXES = {
    "--axes SET": f"Axes over each voxel, one of {', '.join(limits.AXES)}. Those by number keep "
    "the symmetries of the cube, the others are the vertices of icospheres.  "
    f"[default: {limits.DEFAULT_AXES}]"
}
SPHERE = {
    "--subdivisions L": f"Of the icosahedron, 10 * 4^L + 2 points, in {limits.SUBDIVISIONS}.",
    "--refined G,L,W,S,E,N": "Icosahedron of G subdivisions, and of L > G in this region, degrees; "
    f"L at most {limits.REFINED_SUBDIVISIONS}.",
    "--nside N": f"Size of HEALPix (nested), 12 N^2 points: a power of two in {limits.NSIDE}.",
    "--bandlimit B": f"Size of the equiangular grid, 2B x 2B points, in {limits.BANDLIMIT}.",
    "--gaussian ON|FN|NN": "Gaussian grid, reduced octahedral as O32, regular as F32, or classical "
    f"reduced ({', '.join(limits.CLASSICAL_GRIDS)}): N latitudes between a pole and the "
    "equator.",
    "--pl LIST": "Points of each latitude of another reduced Gaussian grid, north to "
    "south, with commas, as the pl of a GRIB file has them.",
    **RANDOM,
    **POINTS,
    "--units degrees": "Confirm that the given points are in degrees if they look like radians.",
    "--mask FILE[:VARIABLE[@STEP]]": "Keep the points that are inside: .npy with a boolean for "
    "each; or, taken at the nearest pixel, .npy or gray image of the whole sphere, north up from "
    "longitude -180, or NetCDF on latitudes and longitudes, where inside is 1, above half of "
    "fractions, or what is not missing. VARIABLE may be GROUP/NAME; STEP, from 0, is along time.",
    "--mask-order nested|ring": "Order of a HEALPix mask with booleans.  [default: nested]",
    "--region W,S,E,N": "Keep points in this closed box, degrees; W > E crosses the date line.",
    "--mask-edge pixels|cut": "With --region: cells of points are whole, or cut by its sides.  "
    "[default: cut for given points without areas, unless weights are matched; else pixels]",
}
ORIENTATIONS = {
    "--orientations N": f"Number of orientations, n_o, in {limits.ORIENTATIONS}.  [default: 6; "
    "modulo 2 pi 8]",
    "--period pi|2pi": "Orientations of lines, modulo pi, or of arrows.  [default: pi]",
}
FIBER = {
    "--alpha X": "Sets xi^2 = alpha n A on each level, with n orientations per half turn and A the "
    f"area of {{point}}, in {limits.ALPHA}.  [default: 1]",
    "--xi X|alpha|auto": "Length that one radian of rotation counts for, {unit}, in "
    f"{limits.XI}, on the finest level; coarser levels have the same alpha. alpha: set by "
    "--alpha. auto: solved for --in-plane-fraction.  [default: alpha]",
    "--in-plane-fraction F": "Solve for xi on each level so that this share of edges stays within "
    f"one orientation, in {limits.IN_PLANE_FRACTION}.  [default with --xi auto: 0.4]",
    "--eps X": f"Anisotropy in R = diag(1, eps^-2, xi^2), in {limits.EPS}; 1 is isotropic.  "
    "[default: sqrt(0.1)]",
    "--eps-squared X": f"The square of eps, instead of eps, in {limits.EPS_SQUARED}.  "
    "[default: 0.1, the paper's]",
}
OF_DIRECTIONS = {
    "--directional X": "Add Laplacians along forward, sideways and rotation, for networks that "
    "learn their anisotropy. X is the diffusivity across a direction, in "
    f"{limits.DIRECTIONAL}; along it is 1. On lattices.  [default: none]"
}
OF_SIDES = {
    "--boundary-correction/--no-boundary-correction": "Add edges at open boundaries that "
    "compensate for those cut off, so that eigenvalues converge at second order. For matched "
    "weights, and selling on se2 and r3s2.  [default: where it applies]"
}
COMMON = {
    "--weights {weights}": "{meanings}  [default: {default weights}]",
    "--neighbors K": f"Maximum number of neighbors, in {limits.NEIGHBORS}.  "
    "[default: {neighbors}]",
    f"--kernel {'|'.join(limits.KERNELS)}": "Weight of an edge as a function of distance.  "
    "[default: gaussian]",
    "--bandwidth X": "Kernel width t over the mean squared distance, in "
    f"{limits.BANDWIDTH}.  [default: 0.2]",
    "--levels L": "Graphs in the pyramid, each half as fine as the one before.  [default: {while}]",
    f"--laplacian {'|'.join(limits.LAPLACIANS)}": "Type of Laplacian.  [default: normalized with "
    "kernel weights, else combinatorial]",
    "--lambda-max exact|2": "Eigenvalue that rescales the Laplacian: its largest, or 2, "
    "an upper bound for every normalized Laplacian.  [default: exact]",
    "--eigenpairs M": "Number of smallest eigenpairs to store for each level, in "
    f"{limits.EIGENPAIRS} and at most the vertices of the coarsest.  [default: none]",
}
OF_GRADIENTS = {
    "--gradients": "Store first derivatives along {frame}, for networks that distinguish mirror "
    "images.  [default: none]"
}
OF_POINTS = {
    "--drift X": "Bound on first moments of matched weights, for more accurate eigenvalues, in "
    f"{limits.DRIFT}; 0.03 is enough, smaller values take longer.  [default: unconstrained]"
}

ON_THE_SPHERE = (
    "voronoi on icospheres, unless --neighbors, --kernel, --bandwidth, --lambda-max 2 or "
    "--laplacian normalized is given; else kernel"
)
SIZES = {"plane": PLANE, "space": SPACE, "sphere": SPHERE}
POINT = {"plane": "a pixel", "space": "a voxel", "sphere": "a point"}


def _words(manifold: Manifold) -> dict[str, str]:
    """The words of a manifold for the texts, by the names in braces."""
    base, flat = manifold.base, manifold.base.flat
    lattices = {name == "lattice" for name in base.samplings}
    weights = [
        kind
        for kind in WEIGHTINGS.values()
        if None in {kind.absence(manifold, lattice=lattice) for lattice in lattices}
    ]
    points = f"points are at least {limits.SMALLEST_DEFAULT_POINTS}, or "
    sides = "sides" if flat else f"{points}sides of the equiangular grid"
    least = manifold.least_matched_neighbors
    matched = f"; of matched weights {least}" * (least > manifold.default_neighbors)
    return {
        "point": POINT[base.name],
        "columns": "x,y" if flat else "latitude,longitude",
        "unit": "in widths of the domain" if flat else "in radians of arc",
        "weights": "|".join(kind.name for kind in weights),
        "default weights": "kernel" if flat or manifold.oriented else ON_THE_SPHERE,
        "meanings": " ".join(kind.meaning for kind in weights),
        "while": f"while {sides} {'are ' * flat}at least {limits.SMALLEST_DEFAULT_SIDE}",
        "frame": ", ".join(manifold.frame),
        "neighbors": f"{manifold.default_neighbors}{matched}",
    }


def options_of(manifold: Manifold) -> Decorator:
    """The options that apply to a manifold; others are hidden, and refused with an explanation."""
    axes, oriented, flat = "nx" in manifold.columns, manifold.oriented, manifold.base.flat
    groups: list[tuple[Described, bool]] = [
        (_sampling(manifold) | SIZES[manifold.base.name], True),
        (AXES, axes),
        (ORIENTATIONS, oriented and not axes),
        (FIBER, oriented),
        (COMMON, True),
        (OF_SIDES, flat),
        (OF_POINTS, not flat),
        (OF_GRADIENTS, not axes),
        (OF_DIRECTIONS, flat and oriented and not axes),
    ]
    words = _words(manifold)
    return together(
        *(
            # Without a default given a flag with two names would be False.
            option(
                described.format_map(words),
                text.format_map(words),
                *["coordinates"] * (described in POINTS),
                default=None,
                hidden=not shown,
                multiple=described in POINTS,
            )
            for group, shown in groups
            for described, text in group.items()
        )
    )


def _sampling(manifold: Manifold) -> Described:
    names = manifold.base.samplings
    default = f"[default: {names[0]}, or the one whose size is given]"
    return {"--sampling NAME": f"How points are chosen: {', '.join(names)}.  {default}"}
