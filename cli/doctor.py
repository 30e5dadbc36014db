"""clg doctor: what works on this machine."""

from dataclasses import asdict

import click

from cheblienet_cli import options
from cheblienet_cli.options import Once
from cheblienet_cli.output import show


@click.command(cls=Once)
@options.as_json
def doctor(as_json: bool) -> None:
    """Try every engine on every device on a tiny graph; exit with 1 if a needed one fails.

    KeOps compiles when it is first used, which takes some seconds.
    """
    from cheblienet_graphs.doctor import examine  # help does without

    outcomes = []
    for outcome in examine():
        outcomes.append(asdict(outcome))
        if not as_json:
            verdict = "works" if outcome.works else f"does not work: {outcome.remedy}"
            show(f"{outcome.subject:<8}  {outcome.device:<4}  {verdict}")
    if as_json:
        show(outcomes)
    if any(outcome["needed"] and not outcome["works"] for outcome in outcomes):
        click.get_current_context().exit(1)
