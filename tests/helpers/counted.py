"""What builds and reports do, counted."""

from collections.abc import Callable

import pytest

from cheblienet_graphs.manifolds import spectra
from cheblienet_graphs.search import lists
from cheblienet_graphs.search.offsets import Ellipsoids
from cheblienet_graphs.search.pruned import PrunedSearch
from cheblienet_graphs.search.rule import Cloud
from cheblienet_graphs.spectrum import lanczos, numeric


class Work:
    """Counts what builds and reports do, and stops those that do too much of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, limits: dict[str, float]) -> None:
        self.done, self.limits = dict.fromkeys(limits, 0.0), limits
        self._patch = monkeypatch
        self._count(lists, "cloud", "searches", lambda *_: 1)
        self._count(
            PrunedSearch, "_rough_distances", "distances", lambda result, *_: result.numel()
        )
        self._count(
            Cloud,
            "squared_distances",
            "distances",
            lambda result, cloud, *_: result.size * cloud.images / cloud.points,
        )
        self._count(Ellipsoids, "offsets", "offsets", lambda result, *_: len(result[0]))
        self._count(spectra, "_squared_frequencies", "frequencies", lambda result, *_: len(result))
        for module in (numeric, lanczos):
            self._products(module)

    def add(self, what: str, amount: float) -> None:
        self.done[what] += amount
        assert self.done[what] <= self.limits[what], f"too many {what}"

    def _count(self, owner: object, name: str, what: str, amount: Callable[..., float]) -> None:
        original = getattr(owner, name)

        def counted(*arguments: object, **named: object) -> object:
            result = original(*arguments, **named)
            self.add(what, amount(result, *arguments))
            return result

        self._patch.setattr(owner, name, counted)

    def _products(self, module: object) -> None:
        name = "mapped_product" if module is numeric else "ritz_pairs"
        original = getattr(module, name)

        def counted(product: object, *arguments: object, **named: object) -> object:
            if module is numeric:
                made = original(product, *arguments, **named)
                return lambda x: self.add("products", 1) or made(x)
            return original(lambda x: self.add("products", 1) or product(x), *arguments, **named)

        self._patch.setattr(module, name, counted)


LIMITS = {
    "searches": 5000,  # 480 values of xi at most, their rings doubled
    "distances": 2e8,
    "offsets": 3e8,
    "frequencies": 1e5,
    "products": 30_000,
}
