"""Write docs/reference/cli.md: every command with its options, as `--help` has them.

python docs/cli_reference.py
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from cheblienet_cli.commands import clg

PAGE = Path(__file__).parent / "reference" / "cli.md"
_HEAD = """# Command line

Every command with its options, as `--help` prints them; each has `-h`, `--help`, too.
[Commands](commands.md) has them on one screen, and what they share: exit codes, the store, the
streams. This page is written by `python docs/cli_reference.py`.
"""


def reference() -> str:
    """The page, as Markdown."""
    sections = ["\n\n".join(_section(context)) for context in _commands(_context(clg, "clg"))]
    return "\n\n".join([_HEAD.rstrip(), *sections]) + "\n"


def _context(
    command: click.Command, name: str, parent: click.Context | None = None
) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _commands(context: click.Context) -> Iterator[click.Context]:
    """A command and, depth first, those within it."""
    yield context
    if isinstance(context.command, click.Group):
        for name, inner in sorted(context.command.commands.items()):
            yield from _commands(_context(inner, name, context))


def _section(context: click.Context) -> Iterator[str]:
    command = context.command
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"## {context.command_path}"
    yield f"`{context.command_path} {pieces}`"
    yield _prose(inspect.cleandoc(command.help or ""))
    if isinstance(command, click.Group):
        yield _inner_commands(context, command)
    if options := _options(context):
        yield options
    if command.epilog:
        yield _examples(command.epilog)


def _inner_commands(context: click.Context, group: click.Group) -> str:
    paths = [f"{context.command_path} {name}" for name in sorted(group.commands)]
    return "Commands: " + ", ".join(f"[{path}](#{path.replace(' ', '-')})" for path in paths) + "."


def _options(context: click.Context) -> str:
    records = [
        parameter.get_help_record(context)
        for parameter in context.command.get_params(context)
        if isinstance(parameter, click.Option) and "--help" not in parameter.opts
    ]
    return "\n".join(f"- `{names}`: {_prose(text)}" for names, text in filter(None, records))


def _examples(epilog: str) -> str:
    title, *lines = epilog.removeprefix("\b\n").splitlines()
    return "\n".join([title, "", "```sh", *map(str.strip, lines), "```"])


def _prose(text: str) -> str:
    """A help text as Markdown: signs that would be read as markup are escaped, outside of code."""
    parts = re.split(r"(`[^`]*`)", text.replace("  [", " ["))
    parts[::2] = [re.sub(r"([*<$])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference())
