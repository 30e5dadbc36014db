"""Modules of constants that say in checkpoints which published version they are of."""

from typing import Any

from torch import Tensor

from cheblienet_models.arguments import instance
from cheblienet_models.errors import StoreError
from cheblienet_models.graphs.identity import Identity
from cheblienet_models.graphs.mapped import Mapped, Reopen


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
