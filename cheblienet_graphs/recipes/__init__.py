"""Recipes: specifications as TOML files; the paper's experiments are shipped as such."""

import inspect
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from cheblienet_graphs.errors import CheblienetError, SpecError, UnknownRecipeError
from cheblienet_graphs.spec import GraphSpec

SUFFIX = ".toml"


@dataclass(frozen=True)
class Recipe:
    """A named specification.

    Args:
        name: of the recipe, and of the graph unless another is given.
        title: what it is for.
        spec: what to build.
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
        UnknownRecipeError: no such recipe is shipped.
        CheblienetError: the file can't be read, or what it says is not valid.
    """
    path = Path(name)
    if path.suffix == SUFFIX or len(path.parts) > 1:
        try:
            return _parsed(path.stem, path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise CheblienetError(f"The recipe {path} can't be read: {error}.") from error
    if str(name) not in _shipped():
        known = ", ".join(_shipped())
        raise UnknownRecipeError(
            f"There is no recipe {str(name)!r:.99}. There are {known}; a path must end in .toml."
        )
    text = (files(__package__) / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return _parsed(str(name), text, f"{name}{SUFFIX}")


def _shipped() -> list[str]:
    found = (Path(entry.name) for entry in files(__package__).iterdir())
    return sorted(path.stem for path in found if path.suffix == SUFFIX)


def _parsed(name: str, text: str, where: str) -> Recipe:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CheblienetError(f"{where} is not TOML: {error}.") from error
    title = content.pop("title", name)
    graph = content.pop("graph", None)
    if content or not isinstance(graph, dict) or not isinstance(title, str):
        extra = f" Got {', '.join(content)} too." if content else ""
        raise CheblienetError(f"{where} must have a title and a table [graph], no more.{extra}")
    return Recipe(name, title, _spec(graph, where))


def _spec(graph: dict[str, Any], where: str) -> GraphSpec:
    fields = list(inspect.signature(GraphSpec).parameters)
    if unknown := [field for field in graph if field not in fields]:
        raise CheblienetError(
            f"{where} has unknown fields: {', '.join(unknown)}. There are: {', '.join(fields)}."
        )
    if "manifold" not in graph:
        raise CheblienetError(f"{where} must name a manifold in [graph].")
    try:
        return GraphSpec(**graph)
    except SpecError as error:
        raise CheblienetError(f"{where}: {error}") from error
