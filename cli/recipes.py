"""clg recipes: the paper's experiments."""

import json

import click

from cheblienet_cli import options
from cheblienet_cli.help import Once


@click.command(cls=Once)
@options.as_json
@options.debug
def recipes(as_json: bool) -> None:
    """List the shipped recipes; `clg build recipe NAME` builds one."""
    from cheblienet_graphs.recipes import recipes as shipped  # help does without

    listed = [
        {
            "name": recipe.name,
            "title": recipe.title,
            "vertices": [
                recipe.spec.orientations * recipe.spec.base_points(level)
                for level in range(recipe.spec.levels)
            ],
            "spec": recipe.spec.to_dict(),
        }
        for recipe in shipped()
    ]
    if as_json:
        click.echo(json.dumps(listed))
        return
    rows = [(str(r["name"]), " / ".join(map(str, r["vertices"])), str(r["title"])) for r in listed]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for name, vertices, title in rows:
        click.echo(f"{name:<{widths[0]}}  {vertices:<{widths[1]}}  {title}")
