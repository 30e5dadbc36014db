"""Modules without weights whose settings belong to the weights around them."""

import json
from typing import Any

import torch
from torch import Tensor, nn

from cheblienet_models.errors import StoreError, one_line, quoted

SHOWN = 4
"""So many settings are named in an error."""


class Recorded(nn.Module):
    """A module whose settings are saved in checkpoints, and compared when these are loaded.

    Attributes:
        settings: JSON values by name, all that decides what it computes, besides the graph.
    """

    settings: dict[str, Any]

    def get_extra_state(self) -> Tensor:
        """(n,) uint8: the settings as JSON, so that they travel with torch.save safely."""
        return torch.frombuffer(bytearray(json.dumps(self.settings).encode()), dtype=torch.uint8)

    def set_extra_state(self, state: Any) -> None:
        """Compare a checkpoint's settings with these.

        Raises:
            StoreError: they differ, or the state is not one of ours.
        """
        trained = decoded(state)
        if trained != self.settings:
            name = type(self).__name__
            raise StoreError(
                f"The checkpoint was trained with {name}({told(trained)}); this network has "
                f"{name}({told(self.settings)}): make it as the trained one was."
            )


def decoded(state: Any) -> dict[str, Any]:
    """Settings that were saved.

    Raises:
        StoreError: the state is not one of ours.
    """
    try:
        found = json.loads(bytes(state.cpu().tolist()))
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError("The checkpoint does not say how its lift was set.") from error
    if not isinstance(found, dict):
        raise StoreError("The checkpoint does not say how its lift was set.")
    return found


def told(settings: dict[str, Any]) -> str:
    """Settings as arguments, shortened."""
    shown = list(settings.items())[:SHOWN]
    return one_line(", ".join(f"{name:.40}={quoted(value)}" for name, value in shown))
