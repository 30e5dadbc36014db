"""The layout of help pages."""

import sys

import click


class WholeSentences(click.Group):
    """A group whose page has the first sentence of each command, wrapped instead of cut short."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The section on the commands."""
        rows = [
            (name, command.get_short_help_str(sys.maxsize))
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def examples(*commands: str) -> str:
    """The end of a page, a line for each example."""
    # click does not wrap a paragraph that starts with \b.
    title = "Examples:" if len(commands) > 1 else "Example:"
    return "\n".join(["\b", title, *(f"  {command}" for command in commands)])
