"""A nonlinearity of fields of spin."""

import torch
from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, integer
from cheblienet_models.layers.derivatives import SMALL
from cheblienet_models.tensors import logical, vertex_major


class Modulus(nn.Module):
    """Gates of fields of spin by their moduli: psi_c sigmoid(sum_d w_cd |psi_d| + b_c).

    A function of components, such as a ReLU, would depend on the frame. Moduli do not, so this
    commutes with rotations and reflections of any angle, for every spin.

    Args:
        channels: C, the number of fields.

    Attributes:
        gate: the linear map w with its bias b, (C, C) and (C,).

    Raises:
        TypeError: channels is no integer.
        ValueError: it is below 1.

    Example:
        >>> Modulus(4)(torch.randn(1, 8, 192)).shape
        torch.Size([1, 8, 192])
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.channels = integer("channels", channels, 1)
        self.gate = nn.Linear(channels, channels)

    def forward(self, x: Tensor) -> Tensor:
        """(B, 2 C, V), first components of all fields, then second ones -> the same.

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape or dtype.
        """
        check_signal("Modulus", x, ("B", 2 * self.channels, "V"))
        pairs = vertex_major(x).unflatten(2, (2, self.channels))
        wide = pairs.to(torch.promote_types(x.dtype, torch.float32))
        moduli = (wide.square().sum(2, keepdim=True) + SMALL).sqrt()
        gates: Tensor = torch.sigmoid(self.gate(moduli.to(self.gate.weight.dtype)))
        return logical((pairs * gates.to(x.dtype)).flatten(2))
