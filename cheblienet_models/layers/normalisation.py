"""Batch normalisation that leaves vertex-major signals where they are."""

from torch import Tensor, nn

from cheblienet_models.tensors.layout import logical, vertex_major


class BatchNorm(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d for (B, C, V), over batch and vertices, in vertex-major memory.

    Same parameters, buffers and results; torch's own would copy the signal there and back.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, V) -> (B, C, V).

        Raises:
            ValueError: x has another number of dimensions.
        """
        if x.ndim != 3:
            raise ValueError(f"BatchNorm takes (B, C, V). Got {tuple(x.shape)}.")
        vertices = vertex_major(x)
        # As an image of height V and width B with its channels last, for which there are kernels.
        image = vertices.permute(2, 0, 1).unsqueeze(0)
        return logical(super().forward(image).squeeze(0).permute(1, 2, 0))

    def _check_input_dim(self, input: Tensor) -> None:  # noqa: A002 -- torch's name
        """The image above has four dimensions; `forward` has checked what it was given."""
