"""The base of modules with tensors that are mapped from a store."""

import copy
import warnings
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import instance
from cheblienet_models.errors import StoreError
from cheblienet_models.graphs.identity import (
    EXTRA,
    Identity,
    field_differences,
    levels_apart,
    settings_in_words,
)
from cheblienet_models.missing import all_finite, has_values
from cheblienet_models.tensors import Constants, CsrParts

if TYPE_CHECKING:
    from cheblienet_models.graphs.graph import Graph  # which imports this


class Directional(NamedTuple):
    """A Laplacian along one direction, combinatorial: 2 Delta / lambda_max - I in CSR form.

    Args:
        row_pointers: (V + 1,).
        columns: (nnz,).
        values: (nnz,).
        lambda_max: its own upper bound of the spectrum of Delta.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor
    lambda_max: float


Reopen = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments that open a module again: all that pickle stores of one."""


def recipe_of(reopen: Reopen, make: Callable[..., nn.Module], *more: Any) -> Reopen:
    """A recipe for pickle: `make` is called with a module, opened again, and more arguments."""
    return _made, (make, reopen, more)


def _made(make: Callable[..., nn.Module], reopen: Reopen, more: tuple[Any, ...]) -> nn.Module:
    """The object made of a module that is opened again. Unpickling calls this."""
    function, arguments = reopen
    return make(function(*arguments), *more)


class Mapped(Constants):
    """A module of constants. Pickled as a handle, with its dtype; copies share the tensors.

    Args:
        reopen: how to open it again.

    Attributes:
        entries: what its `values` are of, for messages.
        handle: how to open it again; the same for all copies of what was opened once.
    """

    entries = "Laplacian"

    def __init__(self, reopen: Reopen) -> None:
        super().__init__()
        self.handle = reopen
        self._owner: weakref.ref[nn.Module] | None = None
        self._place = ""
        self._looked_at: set[str] = set()

    def finite(self, name: str) -> Tensor:
        """A tensor that layers compute with, by its name; looked at when it is first asked for.

        Opening does not read it. Programs that are compiled or exported do not look.

        Raises:
            StoreError: it has values that are not finite.
        """
        tensor: Tensor = getattr(self, name)
        if name not in self._looked_at and has_values(tensor):
            if not all_finite(tensor):
                what = name.replace("values", self.entries).replace("_", " ").strip()
                count = int((~tensor.isfinite()).sum())
                raise StoreError(
                    f"{self.extra_repr()}: {count} of {tensor.numel()} entries of its {what} are "
                    "NaN or infinite. The store is damaged: copy it again, or build the graph anew."
                )
            self._looked_at.add(name)
        return tensor

    def first_look(self, name: str) -> bool:
        """True if something is looked at for the first time, by this or by its original."""
        first = name not in self._looked_at
        self._looked_at.add(name)
        return first

    def _finite_matrix(self, prefix: str = "") -> CsrParts:
        """A matrix that is held under a prefix; its values are looked at as `finite` does."""
        return self._matrix(prefix)._replace(values=self.finite(f"{prefix}values"))

    def adopt_parts(self) -> None:
        """Let its mapped children know their parent; weakly, so that one can be kept alone."""
        for place, part in self.named_children():
            if isinstance(part, Mapped):
                part._owner, part._place = weakref.ref(self), place  # noqa: SLF001

    def __reduce__(self) -> tuple[Any, ...]:
        owner = self._owner() if self._owner is not None else None
        if owner is None:
            return (*self.handle, self._dtype())
        # Through the owner, which pickle stores once, so that what is shared stays shared.
        return nn.Module.get_submodule, (owner, self._place), self._dtype()

    def __setstate__(self, dtype: torch.dtype | None) -> None:
        if dtype is not None:
            self.to(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        clone = type(self).__new__(type(self))
        clone.__dict__.update(self.__dict__)
        memo[id(self)] = clone
        clone._owner = None  # noqa: SLF001 -- its parent's copy, where there is one, says so
        clone._modules = copy.deepcopy(self._modules, memo)  # noqa: SLF001
        clone.adopt_parts()
        return clone

    def _dtype(self) -> torch.dtype | None:
        """The dtype of its floating-point constants and of its parts'; None where it has none."""
        held = [part._tensors() for part in self.modules() if isinstance(part, Constants)]  # noqa: SLF001
        kinds = [one.dtype for of in held for one in of.values() if one.is_floating_point()]
        return kinds[0] if kinds else None


class Identified(Mapped):
    """Constants of a published version. Checkpoints say which, and are compared with it.

    Args:
        reopen: how to open it again.
        identity: of the version, its specification included.

    Attributes:
        name, version: where it was opened from.
        spec: what it was built from, as JSON types.
        spec_sha256: its digest.
        identity: all of these, as checkpoints say them.
    """

    def __init__(self, reopen: Reopen, identity: Identity) -> None:
        super().__init__(reopen)
        self.identity = instance("identity", identity, Identity)
        self.name, self.version = identity.name, identity.version
        self.spec_sha256 = identity.spec_sha256
        self.spec: dict[str, Any] = identity.spec or {}

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: its identity."""
        return self.identity.encoded()

    def set_extra_state(self, state: Tensor) -> None:
        """Compare a checkpoint's graph or map with this one.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        trained = Identity.decoded(state)
        if trained.spec_sha256 != self.spec_sha256:
            raise StoreError(
                f"The checkpoint was trained on {trained} (spec {trained.spec_sha256[:12]}); this "
                f"network is on {self.identity} (spec {self.spec_sha256[:12]}). Open the graph it "
                "was trained on, or use load_weights(network, state, allow_other_graph=True)."
            )

    def extra_repr(self) -> str:
        """The line that print(pyramid) shows."""
        return f"{self.name}@{self.version}"


class OnGraph(nn.Module):
    """A layer of operators on a graph, which its checkpoints name and are compared with.

    Checkpoints of earlier versions name no graph: they load, with a warning, and nothing is
    compared.
    """

    graph: "Graph"
    check_finite: bool = True

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: the identity of its graph."""
        return self.graph.identity.encoded()

    def set_extra_state(self, state: Any) -> None:
        """Compare a checkpoint's graph with its own.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        if isinstance(state, Tensor) and state.is_meta:
            return  # as all values there, it says nothing
        trained, here = Identity.decoded(state), self.graph.identity
        if not trained.is_of(here):
            fields = field_differences(trained.spec, here.spec or {}) if trained.spec else []
            fields += levels_apart(trained, here)
            then, now = (
                settings_in_words({field.name: getattr(field, side) for field in fields})
                for side in ("trained", "here")
            )
            raise StoreError(
                f"The checkpoint's {type(self).__name__} was trained on {trained}: {then}. This "
                f"one is on {here}: {now}. Open the graph it was trained on, or use "
                "load_weights(network, state, allow_other_graph=True)."
            )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, *others: Any, **named: Any
    ) -> None:
        """Compare before weights are loaded."""
        key = f"{prefix}{EXTRA}"
        if key in state_dict:
            self.set_extra_state(state_dict[key])
        elif any(name.startswith(prefix) for name in state_dict):
            warnings.warn(
                "The checkpoint is of an earlier version, which did not say of layers what graph "
                "they were trained on: only pyramids that a network registers are compared. Save "
                "its state_dict() again.",
                stacklevel=2,
            )
        super()._load_from_state_dict(state_dict, prefix, *others, **named)
        missing: list[str] = others[2]
        if key in missing:
            missing.remove(key)


def ignore_graphs_in_ddp(module: nn.Module) -> None:
    """Do nothing: graphs are no buffers, which are all that DistributedDataParallel broadcasts.

    Args:
        module: a network, of programs for version 0.2, which has graphs as buffers.
    """
    instance("module", module, nn.Module)
