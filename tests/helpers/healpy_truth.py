"""What healpy makes of a map: `python tests/helpers/healpy_truth.py healpy.npz`, where it is.

    field         (3072,) a map of nside 16 in the order "ring", harmonics up to degree 16
    known         (3072,) bool, where it has values: all but a band and some pixels
    nested        (3072,) the map in the order "nested"
    smoothed      (3072,) `healpy.smoothing`, whole
    graded        (768,) `healpy.ud_grade` of the map with UNSEEN to nside 8, "ring"
    regraded      (3072,) `healpy.ud_grade` of the map to nside 8, and of that to 16
    polarized     (2, 3072) Q and U with both modes up to degree 16, "ring"
    depolarized   (2, 3072) of these `healpy.smoothing`, whole
    unseen, fwhm  healpy.UNSEEN and the width, radians

Maps are float32.
"""

import sys

import numpy as np

NSIDE, DEGREE, FWHM = 16, 16, 0.2


def main() -> None:
    """Write the file."""
    import healpy

    np.random.seed(1)  # noqa: NPY002 -- which healpy draws from
    field = healpy.synfast(np.ones(DEGREE + 1), NSIDE, lmax=DEGREE, new=True)
    powers = np.zeros((4, DEGREE + 1))
    powers[1:3, 2:] = 1 / np.arange(2, DEGREE + 1) ** 2  # EE and BB
    _, *polarized = healpy.synfast(powers, NSIDE, lmax=DEGREE, new=True)
    z = healpy.pix2vec(NSIDE, np.arange(len(field)))[2]
    known = (np.abs(z - 0.3) > 0.2) & (np.arange(len(field)) % 17 > 0)
    masked = np.where(known, field, healpy.UNSEEN)
    maps = {
        "field": field,
        "nested": healpy.reorder(field, r2n=True),
        "smoothed": healpy.smoothing(field, fwhm=FWHM, lmax=DEGREE, iter=10),
        "polarized": np.array(polarized),
        "depolarized": healpy.smoothing([0 * field, *polarized], fwhm=FWHM, lmax=DEGREE, iter=10)[
            1:
        ],
        "regraded": healpy.ud_grade(healpy.ud_grade(field, NSIDE // 2), NSIDE),
        "graded": healpy.ud_grade(masked, NSIDE // 2),
    }
    written = {name: values.astype(np.float32) for name, values in maps.items()}
    np.savez_compressed(sys.argv[1], known=known, unseen=healpy.UNSEEN, fwhm=FWHM, **written)


if __name__ == "__main__":
    main()
