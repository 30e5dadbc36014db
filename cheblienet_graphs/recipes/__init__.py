"""Recipes: specifications as TOML files; the paper's experiments are shipped as such."""

import stat
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import InputError, SpecError, quoted
from cheblienet_graphs.limits import file_path
from cheblienet_graphs.spec import GraphSpec

SUFFIX = ".toml"
MAX_BYTES = 100_000


@dataclass(frozen=True)
class Recipe:
    """A named specification.

    Args:
        name: of the recipe, and of the graph unless another is given.
        title: its purpose.
        spec: of the build.
    """

    name: str
    title: str
    spec: GraphSpec


def recipes() -> tuple[Recipe, ...]:
    """The shipped ones, by name."""
    return tuple(recipe(name) for name in _shipped())


def recipe(name: str | Path) -> Recipe:
    """A shipped recipe by its name, or one in a file of the same form.

    Args:
        name: of a shipped one, or a path that ends in .toml or contains a slash.

    Raises:
        InputError: there is none, it can't be read, or what it says is not valid.
        SpecError: the name is neither text nor a path.
    """
    path = file_path("name", name)
    if path.suffix.lower() == SUFFIX or len(path.parts) > 1:
        return _parsed(path.stem, _text(path), str(path))
    if str(name) not in _shipped():
        known = ", ".join(_shipped())
        raise InputError(
            f"There is no recipe {str(name)!r:.99}. There are {known}; a path must end in .toml."
        )
    text = (files(__package__) / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return _parsed(str(name), text, f"{name}{SUFFIX}")


def _shipped() -> list[str]:
    names = (Path(entry.name) for entry in files(__package__).iterdir())
    return sorted(path.stem for path in names if path.suffix == SUFFIX)


def _text(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode) or path.stat().st_size > MAX_BYTES:
            raise InputError(f"The recipe {path} must be a file of at most {MAX_BYTES} bytes.")
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:  # no UTF-8, or no name of a file
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"The recipe {path} can't be read: {reason}.") from error


def _parsed(name: str, text: str, where: str) -> Recipe:
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of numbers with too many digits
        raise InputError(f"{where} is not TOML: {error}.") from error
    match content:
        case {"graph": dict(graph), **others} if others.keys() <= {"title"}:
            if isinstance(title := others.get("title", name), str):
                return Recipe(name, title, _spec(graph, where))
    form = "one table [graph] with the fields of GraphSpec, and besides a title, a text, at most"
    raise InputError(f"{where} must have {form}. Got {quoted(content)}.")


def _spec(graph: dict[str, Any], where: str) -> GraphSpec:
    try:
        return GraphSpec(**graph)
    except (SpecError, TypeError) as error:  # of another name, or without a manifold
        raise InputError(f"{where}: {error}") from error
