"""Points on the sphere in bands of latitude: those near others, and whichever is nearest."""

import numpy as np

from cheblienet_models.resampling.cells.sides import Floats, Indices

BESIDE = 2
"""In the own band and so many on both sides, as many points on both sides are taken as near."""
APART = 20.0
"""Between the keys of bands: more than two turns."""
PAIRS = 2**21
"""Compared at a time."""
WIDE, SHARE = 64, 1 / 8
"""Where more points are within reach than this, and than this share, all of them are compared."""
MARGIN = 1e-9
"""Added to angles, radians, against rounding."""


class Search:
    """A search among points (n, 3) of length 1.

    Bands have equally many points, about as many as there are bands.
    """

    def __init__(self, points: Floats) -> None:
        self.points = points
        count = len(points)
        self.bands = max(1, round(np.sqrt(count) / 1.2))
        by_height = np.argsort(points[:, 2], kind="stable")
        self.band = np.empty(count, np.int64)
        self.band[by_height] = np.arange(count) * self.bands // count
        self.gamma = np.arctan2(points[:, 1], points[:, 0])
        heights = points[by_height, 2]
        self.first = np.searchsorted(self.band[by_height], np.arange(self.bands + 1))
        self.lowest = heights[self.first[:-1]]
        self.highest = heights[self.first[1:] - 1]
        # Every point thrice, one turn apart, so that no window is cut by a meridian.
        keys = APART * self.band + self.gamma + 2 * np.pi * np.arange(-1, 2)[:, None]
        self.order = np.argsort(keys.ravel(), kind="stable")
        self.keys = keys.ravel()[self.order]
        self.order %= count

    def near(self, which: Indices) -> Indices:
        """(m, k) points near some, by distance; the own one may be among them."""
        here = range(-BESIDE, BESIDE + 1)
        bands = [(self.band[which] + step).clip(0, self.bands - 1) for step in here]
        at = [np.searchsorted(self.keys, APART * band + self.gamma[which]) for band in bands]
        places = [(place + step).clip(0, len(self.order) - 1) for place in at for step in here]
        near = self.order[np.stack(places, axis=1)]
        distance = np.linalg.norm(self.points[near] - self.points[which][:, None], axis=2)
        closest: Indices = np.take_along_axis(near, distance.argsort(1), axis=1)
        return closest

    def nearer(self, places: Floats, known: Indices) -> Indices:
        """(m,) the nearest point to each place (m, 3), if nearer than a known one; else -1."""
        cosine = (places * self.points[known]).sum(1)
        reach = np.arccos(cosine.clip(-1, 1)) + MARGIN
        beta = np.arccos(places[:, 2].clip(-1, 1))
        low = np.searchsorted(self.highest, np.cos((beta + reach).clip(0, np.pi)))
        high = np.searchsorted(self.lowest, np.cos((beta - reach).clip(0, np.pi)), side="right")
        low, high = low.clip(max=self.bands), np.maximum(low, high)
        has_pole = np.minimum(beta, np.pi - beta) <= reach
        sines = np.sin(reach), np.where(has_pole, 1, np.sin(beta))
        window = np.where(has_pole, np.pi, np.arcsin((sines[0] / sines[1]).clip(0, 1)) + MARGIN)
        count = (self.first[high] - self.first[low]) * window / np.pi
        is_wide = count > np.maximum(WIDE, len(self.points) * SHARE)
        found = np.full(len(places), -1)
        wide, narrow = np.flatnonzero(is_wide), np.flatnonzero(~is_wide)
        found[wide] = self._nearer_of_all(places[wide], cosine[wide])
        found[narrow] = self._nearer_in_windows(
            places[narrow], cosine[narrow], low[narrow], high[narrow], window[narrow]
        )
        found[found == known] = -1
        return found

    def _nearer_of_all(self, places: Floats, cosine: Floats) -> Indices:
        """(m,) the nearest point to each place, if its cosine is greater than one (m,); else -1."""
        found = np.full(len(places), -1)
        for part in _parts(np.full(len(places), len(self.points))):
            cosines = places[part] @ self.points.T
            best = cosines.argmax(1)
            is_nearer = cosines[np.arange(len(part)), best] > cosine[part]
            found[part[is_nearer]] = best[is_nearer]
        return found

    def _nearer_in_windows(
        self, places: Floats, cosine: Floats, low: Indices, high: Indices, window: Floats
    ) -> Indices:
        """As of all, from bands low to high - 1, and so far to both sides in longitude."""
        found, cosine = np.full(len(places), -1), cosine.copy()
        place = np.repeat(np.arange(len(places)), high - low)
        band = np.arange(len(place)) + np.repeat(high - np.cumsum(high - low), high - low)
        centre = APART * band + np.arctan2(places[place, 1], places[place, 0])
        start = np.searchsorted(self.keys, centre - window[place])
        count = np.searchsorted(self.keys, centre + window[place], side="right") - start
        for part in _parts(count):
            sizes = count[part]
            which = np.repeat(place[part], sizes)
            inner = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            point = self.order[np.repeat(start[part], sizes) + inner]
            cosines = np.einsum("ij,ij->i", places[which], self.points[point])
            is_nearer = cosines > cosine[which]
            which, point, cosines = which[is_nearer], point[is_nearer], cosines[is_nearer]
            order = np.lexsort((cosines, which))
            last = order[np.flatnonzero(np.diff(which[order], append=-1))]
            cosine[which[last]], found[which[last]] = cosines[last], point[last]
        return found


def _parts(counts: Indices) -> list[Indices]:
    """Ranges of (n,) whose counts add up to about as many as are compared at a time."""
    part = (np.cumsum(counts) - counts) // PAIRS
    return np.split(np.arange(len(counts)), np.flatnonzero(np.diff(part)) + 1)
