"""Batch normalisation that leaves vertex-major signals where they are."""

from typing import Any

from torch import Tensor, nn

from cheblienet_models.arguments import check_signal, integer, number
from cheblienet_models.tensors.layout import logical, vertex_major


class BatchNorm(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d for (B, C, V), over batch and vertices, in vertex-major memory.

    Same parameters, buffers and results; torch's own would copy the signal there and back.

    Args:
        num_features: channels, at least 1.
        eps: added to the variance, above 0.
        momentum: of the running statistics; None for the mean of all batches.
        others: torch's: affine, track_running_stats, device, dtype.

    Raises:
        TypeError: num_features is no integer, or eps or momentum no number.
        ValueError: num_features is below 1, or eps not above 0.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, **others: Any
    ) -> None:
        average = None if momentum is None else number("momentum", momentum)
        if number("eps", eps) <= 0:
            raise ValueError(f"eps must be above 0. Got {eps}.")
        super().__init__(integer("num_features", num_features, 1), eps, average, **others)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V).

        Raises:
            TypeError: x is no tensor.
            ValueError: x has another shape, or no floating-point dtype.
        """
        check_signal("BatchNorm", x, ("B", self.num_features, "V"))
        vertices = vertex_major(x)
        # As an image of height V and width B with its channels last, for which there are kernels.
        image = vertices.permute(2, 0, 1).unsqueeze(0)
        return logical(super().forward(image).squeeze(0).permute(1, 2, 0))

    def _check_input_dim(self, input: Tensor) -> None:  # noqa: A002 -- torch's name
        """The image above has four dimensions; `forward` has checked what it was given."""
