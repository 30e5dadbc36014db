"""Tables and figures of the studies, from the runs that are done."""

import re
import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import shared_path  # noqa: F401  to import what all scripts share
from classifying import CHANGE, FRESH
from scripts import head, row
from study_plans import SHOWN, Study
from training import SECONDS, Scores, mean_and_deviation, means_and_deviations

Runs = Mapping[str, Sequence[Scores]]
"""By variant, the scores of its seeds."""


def table(study: Study, runs: Runs, lone: Mapping[str, float]) -> str:
    """Markdown: a row a variant, accuracy in % as mean +- deviation over seeds.

    Their numbers are a column where they differ. Processor times have a "~" where all trainings
    were on a GPU: `lone` has what they would have taken.
    """
    counts = {name: len(scores) for name, scores in runs.items()}
    differ = len({*counts.values()}) > 1
    shown = [
        *study.shown,
        *[FRESH] * any(FRESH in one for scores in runs.values() for one in scores),
    ]
    columns = [f"{name}, paper" for name in study.paper]
    seeds = ["seeds"] * differ
    lines = [head(study.parameter, *seeds, *shown, *columns, "parameters", "processor s")]
    for variant, scores in runs.items():
        cells = [
            mean_and_deviation([one[name] for one in scores], ".1f") if name in scores[0] else ""
            for name in shown
        ]
        known = study.paper.values()
        cells += [f"{values[variant]:.1f}" if variant in values else "" for values in known]
        took = [one[SECONDS] for one in scores if SECONDS in one]
        about = f"~{lone[variant]:.0f}" if variant in lone else ""
        seconds = mean_and_deviation(took, ".0f") if took else about
        count = [counts[variant]] * differ
        lines.append(row(variant, *count, *cells, f"{scores[0]['parameters']:,.0f}", seconds))
    return "\n".join(lines)


def equal_time_table(
    runs: Runs, milliseconds: Mapping[str, float], steps: Mapping[str, int]
) -> str:
    """Markdown: a row a network, with the time of a step and how many steps it took."""
    columns = *SHOWN, "flipped"
    lines = [head("network", "parameters", "ms a step", "steps", "seeds", *columns)]
    for name, scores in runs.items():
        cells = [f"{scores[0]['parameters']:,.0f}", f"{milliseconds[name]:.0f}", f"{steps[name]:,}"]
        cells.append(str(len(scores)))
        cells += means_and_deviations(scores, columns, ".1f")
        lines.append(row(name, *cells))
    return "\n".join(lines)


def gaps(runs: Runs) -> str:
    """A sentence: upright, how far each variant is ahead of the last, with the same seeds."""
    *names, last = runs
    differences = {
        name: [a[SHOWN[0]] - b[SHOWN[0]] for a, b in zip(runs[name], runs[last], strict=False)]
        for name in names
    }
    each = (f"{name} by {mean_and_deviation(d, '.1f')}" for name, d in differences.items())
    return f"Ahead of {last}, upright, with the same seeds: {', '.join(each)}."


def invariance(studies: Sequence[Runs]) -> str:
    """One sentence on all runs with exactly invariant networks: 90 degrees against upright."""
    runs = [one for variants in studies for scores in variants.values() for one in scores]
    exact = [one for one in runs if one["exact"]]
    equal = sum(one["upright"] == one["90 degrees"] for one in exact)
    change = max(one[CHANGE] for one in exact)
    return (
        f"Of {len(exact)} runs on graphs {equal} have exactly the same accuracy on test images "
        f"turned by 90 degrees; log-probabilities change by up to {change:.1e}."
    )


def write_page(page: Path, parts: Mapping[str, str]) -> None:
    """Put text between the markers of a page: `<!-- NAME -->` and `<!-- /NAME -->`.

    Raises:
        ValueError: the page lacks a marker; it is left as it was.
    """
    text = page.read_text()
    for name, part in parts.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        text, count = between.subn(partial(_filled, part), text)
        if count != 1:
            raise ValueError(f"{page} must have <!-- {name} --> and <!-- /{name} --> once.")
    page.write_text(text)


def _filled(part: str, markers: re.Match[str]) -> str:
    return f"{markers[1]}{part}\n{markers[2]}"


def draw(study: Study, runs: Runs, file: Path) -> None:
    """The figure of a study: accuracy by its parameter, ours and, dashed, the paper's.

    Args:
        study: with numbers on its axis.
        runs: scores by variant.
        file: .svg, .png or .pdf.
    """
    import matplotlib.pyplot as plt  # an extra

    figure, axes = plt.subplots(figsize=(4.5, 3), layout="constrained")
    if study.numeric:
        runs = {n: scores for n, scores in runs.items() if n.replace(".", "", 1).isdigit()}
    places = [float(name) for name in runs] if study.numeric else list(range(len(runs)))
    for number, column in enumerate(SHOWN):
        values = [[one[column] for one in scores] for scores in runs.values()]
        means = [sum(one) / len(one) for one in values]
        spread = [statistics.stdev(one) if len(one) > 1 else 0.0 for one in values]
        axes.errorbar(places, means, spread, fmt="o-", color=f"C{number}", capsize=3, label=column)
    for number, (column, paper) in enumerate(study.paper.items()):
        known = {p: paper[n] for p, n in zip(places, runs, strict=True) if n in paper}
        style = {"color": f"C{number}", "mfc": "none", "alpha": 0.6, "label": f"{column}, paper"}
        axes.plot(list(known), list(known.values()), "s--", **style)
    if study.logarithmic:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter("{x:g}")
    elif not study.numeric:
        axes.set_xticks(places, list(runs))
    axes.set(xlabel=study.parameter, ylabel="accuracy in %")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, fontsize="small")
    plt.rcParams["svg.hashsalt"] = study.title  # the same file for the same numbers
    dated = {"metadata": {"Date": None}} if file.suffix == ".svg" else {}
    figure.savefig(file, dpi=150, **dated)
    plt.close(figure)
