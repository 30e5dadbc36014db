"""What a reader decides from: is it consistent and connected, how large, how symmetric."""

import re
from collections.abc import Sequence
from typing import Literal

from cheblienet_graphs.page.tags import Markup, element, joined, powers
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.report.said import Remark, said_once
from cheblienet_graphs.report.verdict import Consistency
from cheblienet_graphs.spec.words import human_bytes, percent

Kind = Literal["good", "bad", "open"]

SAID: dict[Consistency, str] = {
    "consistent": "Yes",
    "inconsistent": "No",
    "too coarse": "No: too coarse",
    "not compared": "Not fully compared",
}
_KINDS: dict[Consistency, Kind] = {
    "consistent": "good",
    "inconsistent": "bad",
    "too coarse": "open",
    "not compared": "open",
}
_ABOUT = re.compile(r"\b([xyz])$")


def glance(report: Report) -> Markup:
    """Four questions with their answers."""
    levels = report.levels
    answers = [_consistent(levels), _connected(levels), _size(report), _symmetric(levels)]
    return element("dl", joined(answers), class_="glance")


def _answer(kind: str, question: str, short: str, *more: str) -> Markup:
    content = [element("dt", question), element("dd", short)]
    further = [one if isinstance(one, Markup) else powers(one) for one in more]
    return element("div", *content, *(element("dd", one) for one in further), class_=kind)


def _consistent(levels: Sequence[LevelReport]) -> Markup:
    found = [level.consistency for level in levels]
    worst = next(
        c for c in ("inconsistent", "too coarse", "not compared", "consistent") if c in found
    )
    question, short, more = "Consistent with its metric?", SAID[worst], list[str]()
    if len(set(found)) > 1:
        short, every = "Not on every level", [level.level for level in levels]
        remarks = [Remark(level.level, SAID[level.consistency].lower()) for level in levels]
        more = said_once(remarks, every)
    errors = [level.spectral_error for level in levels if level.spectral_error is not None]
    if errors:
        more.append(f"first eigenvalues up to {percent(max(errors))} off")
    if worst != "consistent":
        what = "what to do" if worst == "inconsistent" else "why"
        more.append(element("a", what, href="#consistency"))
    return _answer(_KINDS[worst], question, short, *more)


def _connected(levels: Sequence[LevelReport]) -> Markup:
    question = "Connected?"
    alone = [level for level in levels if level.isolated]
    isolated = [f"level {x.level}: {x.isolated:,} vertices without neighbours" for x in alone]
    apart = [level for level in levels if level.components > 1]
    if not apart:
        return _answer("good", question, "Yes", "one component" + _each(levels))
    short = "No" if len(apart) == len(levels) else "Not on every level"
    pieces = [f"level {level.level}: {level.components:,} components" for level in apart]
    return _answer("bad", question, short, *pieces, *isolated)


def _each(levels: Sequence[LevelReport]) -> str:
    return " on each level" if len(levels) > 1 else ""


def _size(report: Report) -> Markup:
    first, made = report.levels[0], report.spec.levels
    where = f", on level {first.level}" if made > 1 else ""
    edges = f"{first.edges:,} edges, {first.degree['mean']:.1f} neighbours a vertex{where}"
    disk = f"{made} level{'s' if made > 1 else ''}, {human_bytes(report.bytes)} on disk"
    return _answer("", "How large?", f"{first.vertices:,} vertices", edges, disk)


def _symmetric(levels: Sequence[LevelReport]) -> Markup:
    question, worst = "Which symmetries?", largest_errors(levels)
    exact = [in_words(name) for name, error in worst.items() if error == 0]
    others = [f"{in_words(n)}: |P'LP - L| up to {e:.2g}" for n, e in worst.items() if e != 0]
    if not worst:
        return _answer("", question, "None", "this sampling has no symmetry that is known")
    if not exact:
        return _answer("open", question, "None exactly", *others)
    short = "1, exactly" if len(exact) == 1 else f"{len(exact)}, exactly"
    return _answer("good", question, short, ", ".join(exact), *others)


def largest_errors(levels: Sequence[LevelReport]) -> dict[str, float]:
    """The largest |P'LP - L| of each symmetry over the levels that have it."""
    worst: dict[str, float] = {}
    for level in levels:
        for name, error in level.equivariance.items():
            worst[name] = max(error, worst.get(name, 0.0))
    return worst


def in_words(symmetry: str) -> str:
    """'rotation_90_z' as 'rotation by 90° about z'."""
    words = symmetry.replace("_", " ")
    words = re.sub(r"^rotation (\d+)", "rotation by \\1\N{DEGREE SIGN}", words)
    relation = "along" if words.startswith(("translation", "reflection")) else "about"
    return _ABOUT.sub(f"{relation} \\1", words)
