"""Layers whose directional Laplacians follow one another, beside ChebConv's, which stand in a sum.

y = sum_{a, b < 3} T_a(L_forward) T_b(L_rotation) x W_ab + b: nine terms, one less than a sum of
three operators with K = 4 has, and half as many products again.
"""

import torch
from torch import Tensor, nn

from cheblienet_models import ChebConv
from cheblienet_models.layers.chebyshev import chebyshev

TERMS = 3


class Composed(ChebConv):
    """A ChebConv of directional operators that composes two of them."""

    def _summed(self, x: Tensor) -> Tensor:
        """The sum without the bias, (V, B, in) -> (V, B, out)."""
        forward, _, rotation = (self.graph.directional_parts()[i : i + 3] for i in (0, 3, 6))
        channels = x.shape[2]
        eye = torch.eye(channels, dtype=x.dtype, device=x.device)
        # Its block b is T_b(L_rotation) x.
        blocks = x.new_zeros(TERMS, channels, TERMS, channels)
        for number in range(TERMS):
            blocks[number, :, number] = eye
        turned = chebyshev(x, blocks.reshape(TERMS, channels, -1), rotation)
        weight = self.weight[: TERMS**2].reshape(TERMS, TERMS * channels, -1)
        y: Tensor = chebyshev(turned, weight, forward)
        return y


def compose(network: nn.Module) -> nn.Module:
    """The same network, all of its directional layers composed; returns it."""
    for module in network.modules():
        if isinstance(module, ChebConv) and module.operators == "directional":
            module.__class__ = Composed
            with torch.no_grad():
                module.weight = nn.Parameter(module.weight[: TERMS**2].clone())
    return network
