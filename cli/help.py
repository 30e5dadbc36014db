"""The layout of help pages."""

import sys

import click


class Once(click.Command):
    """A command that refuses an option given twice, of which click would take the last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click's."""
        _, _, order = self.make_parser(ctx).parse_args(args=[*args])
        for option in order:
            single = isinstance(option, click.Option) and not option.multiple
            if single and not option.is_eager and order.count(option) > 1:
                raise click.UsageError(f"{option.opts[-1]} must be given once.", ctx)
        return super().parse_args(ctx, args)


class WholeSentences(click.Group):
    """A group whose page has the first sentence of each command, wrapped instead of cut short."""

    command_class = Once

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
