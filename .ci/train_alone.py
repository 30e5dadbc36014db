"""Train on a published graph where torch and numpy are all there is; .ci/extras runs this."""

import sys

import torch

from cheblienet_models import WideResNet, open_store

STEPS = 3


def main(store: str, checkpoint: str) -> None:
    """Train for a few steps, save the weights, load them into another network, compare.

    Args:
        store: with the graph "plane-orientations".
        checkpoint: file to write.
    """
    torch.manual_seed(0)
    pyramid = open_store(store)["plane-orientations"]  # `verify=True` needs scipy
    images, labels = torch.randn(8, 1, 6, 6), torch.arange(8) % 2
    network = WideResNet(pyramid, in_channels=1, num_classes=2)
    optimizer = torch.optim.Adam(network.parameters(), 1e-2)
    losses = []
    for _ in range(STEPS):
        loss = torch.nn.functional.nll_loss(network(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    if not losses[-1] < losses[0]:
        raise SystemExit(f"The loss did not fall: {losses}")
    torch.save(network.state_dict(), checkpoint)
    again = WideResNet(pyramid, in_channels=1, num_classes=2)
    again.load_state_dict(torch.load(checkpoint, weights_only=True))
    if not torch.equal(again.eval()(images), network.eval()(images)):
        raise SystemExit("The weights that were loaded give another output.")
    print("loss", *(f"{loss:.3f}" for loss in losses))


if __name__ == "__main__":
    main(*sys.argv[1:])
