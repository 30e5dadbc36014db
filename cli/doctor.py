"""clg doctor: what works on this machine."""

import json
from dataclasses import asdict

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once
from cheblienet_cli.spelling import as_options, with_options


@click.command(cls=Once)
@options.as_json
@options.debug
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Try every engine on every device on a tiny graph; exit with 1 if a needed one fails.

    KeOps compiles when it is first used, which takes some seconds.
    """
    from cheblienet_graphs.doctor import examine  # help does without

    findings = []
    for finding in examine():
        findings.append(finding)
        if not as_json:
            verdict = "works" if finding.works else f"does not work: {as_options(finding.remedy)}"
            click.echo(f"{finding.subject:<8}  {finding.device:<4}  {verdict}")
    if as_json:
        click.echo(json.dumps(with_options([asdict(finding) for finding in findings])))
    if any(finding.needed and not finding.works for finding in findings):
        ctx.exit(1)
