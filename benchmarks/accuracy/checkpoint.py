"""Files from which an interrupted experiment goes on."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

Scores = dict[str, float]
"""By column of a table."""
NOT_OURS = (
    *(OSError, RuntimeError, EOFError, pickle.UnpicklingError),  # no file of torch.save
    *(AttributeError, KeyError, TypeError),  # one with other contents
)


@dataclass(frozen=True)
class Saved:
    """Scores of what is done, seconds so far, and the state of the training under way, if any."""

    scores: list[Scores] = field(default_factory=list)
    seconds: float = 0.0
    run: dict[str, Any] | None = None


@dataclass(frozen=True)
class Checkpoint:
    """A file with how far an experiment has come.

    Args:
        path: where; None keeps nothing.
        settings: of the experiment, which is not continued with others: name, value.
    """

    path: Path | None = None
    settings: Mapping[str, str | int | float] = field(default_factory=dict)

    def load(self) -> Saved:
        """A beginning where there is no file.

        Raises:
            ValueError: the file is none of ours, or of an experiment with other settings.
        """
        if self.path is None or not self.path.exists():
            return Saved()
        try:
            content = torch.load(self.path, weights_only=True)
            settings = content.pop("settings")
            saved = Saved(**content)
            saved_settings = {name: settings.get(name) for name in self.settings}
        except NOT_OURS:
            raise ValueError(f"{self.path} is not a checkpoint of this experiment.") from None
        self._check(saved_settings)
        return saved

    def _check(self, saved_settings: dict[str, Any]) -> None:
        for name, value in self.settings.items():
            if saved_settings[name] != value:
                raise ValueError(
                    f"The checkpoint {self.path} is of another experiment: its {name} is "
                    f"{saved_settings[name]}, here it is {value}. Name another file or remove it."
                )

    def save(self, saved: Saved) -> None:
        """Replace the file at once, so that a stop at any moment leaves a whole one."""
        if self.path is None:
            return
        part = self.path.with_name(f"{self.path.name}.part")
        torch.save({"settings": dict(self.settings), **vars(saved)}, part)
        part.replace(self.path)
