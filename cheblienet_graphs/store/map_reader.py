"""Published maps as numpy sees them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.store import layout
from cheblienet_graphs.store.arrays import mapped_array, mapped_places, within
from cheblienet_graphs.store.folder import Folder
from cheblienet_graphs.store.map_facts import MapFacts
from cheblienet_graphs.store.matrices import mapped_averages, mapped_csr
from cheblienet_graphs.typing import Indices


@dataclass(frozen=True)
class MapArrays:
    """The arrays of a map, mapped on first use and of the shapes that its facts imply.

    Args:
        version: folder of the version.
        facts: of the version.
    """

    version: Folder
    facts: MapFacts

    @cached_property
    def matrix(self) -> Csr:
        """(targets, sources) float32 averages.

        Raises:
            StoreError: as `mapped_averages`.
        """
        nnz = self.facts.sizes.nnz
        return mapped_averages(self.version / layout.MAP, self.facts.spec.shape, nnz)

    @cached_property
    def transposed(self) -> Csr:
        """(sources, targets) float32.

        Raises:
            StoreError: as `mapped_csr`.
        """
        shape = self.facts.spec.shape[::-1]
        return mapped_csr(self.version / layout.TRANSPOSED, shape, self.facts.sizes.nnz)

    def mapped_coordinates(self, side: str) -> npt.NDArray[np.float64]:
        """(V, d) of the "source" or the "target"; values are not looked at.

        Raises:
            StoreError: they can't be read.
        """
        spec = self.facts.spec.sides[side]
        shape = spec.num_vertices, len(spec.geometry.columns)
        return mapped_array(self.version / side / "coordinates", shape, ("float64",))

    def coordinates(self, side: str) -> npt.NDArray[np.float64]:
        """The same, all finite.

        Raises:
            StoreError: they can't be read, or are not finite.
        """
        return within(self.version / side / "coordinates", self.mapped_coordinates(side))

    def base_index(self, side: str) -> Indices | None:
        """(n_inside,) where the points of a side are in its full sampling; None without a mask.

        Raises:
            StoreError: they can't be read, or do not ascend.
        """
        spec = self.facts.spec.sides[side]
        if spec.mask is None:
            return None
        array = self.version / side / layout.BASE_INDEX
        return mapped_places(array, spec.base_points(0), spec.full_points(0)).astype(np.int64)
