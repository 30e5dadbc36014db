"""Modules whose settings belong to weights: those around them, or their own."""

import json
from typing import Any

import torch
from torch import Tensor, nn

from cheblienet_models.errors import StoreError, one_line, quoted

SHOWN = 4
"""So many settings are named in an error."""
EXTRA = "_extra_state"
"""Under which a state dict has what a module saves besides weights."""


class Recorded(nn.Module):
    """A module whose settings are saved in checkpoints, and compared when these are loaded.

    Attributes:
        settings: JSON values by name, all that decides what it computes, besides the graph.
        sampled: names of those that say how finely a manifold is sampled, as levels do: a graph
            that may differ from the trained one may differ in them.
        since_later: whether checkpoints are older than the settings; those without them load.
    """

    settings: dict[str, Any]
    sampled: frozenset[str] = frozenset()
    since_later: bool = False

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: the settings as JSON, so that they travel with torch.save safely."""
        return torch.frombuffer(bytearray(json.dumps(self.settings).encode()), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        """Compare a checkpoint's settings with these.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        self.compare(self.decoded(state), frozenset())

    def compare(self, trained: dict[str, Any], but: frozenset[str]) -> None:
        """Compare settings with these, but for some.

        Raises:
            StoreError: they differ.
        """
        if _without(trained, but) != _without(self.settings, but):
            name = type(self).__name__
            raise StoreError(
                f"The checkpoint was trained with {name}({told(trained)}); this network has "
                f"{name}({told(self.settings)}): make it as the trained one was."
            )

    def decoded(self, state: Any) -> dict[str, Any]:
        """Settings that were saved.

        Raises:
            StoreError: the state is not one of ours.
        """
        found = decoded(state)
        if found is None:
            raise StoreError(f"The checkpoint does not say how its {type(self).__name__} was set.")
        return found

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,  # noqa: FBT001 - torch passes it so
        missing_keys: list[str],
        *lists: list[str],
    ) -> None:
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, *lists
        )
        if self.since_later and f"{prefix}{EXTRA}" in missing_keys:
            missing_keys.remove(f"{prefix}{EXTRA}")


def decoded(state: Any) -> dict[str, Any] | None:
    """Settings that were saved; None of a state that is not one of ours."""
    try:
        found = json.loads(bytes(state.cpu().tolist()))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def told(settings: dict[str, Any]) -> str:
    """Settings as arguments, shortened."""
    shown = list(settings.items())[:SHOWN]
    return one_line(", ".join(f"{name:.40}={quoted(value)}" for name, value in shown))


def _without(settings: dict[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if name not in names}
