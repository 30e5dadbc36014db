"""The page: whole, alone, escaped, and in agreement with the report."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawings import HOSTILE, LINE, NOTHING, OTHER, TWINS
from masks import awkward
from parsed_pages import Element, check_page, named

from cheblienet_cli.main import run
from cheblienet_cli.spelling import option
from cheblienet_graphs import GraphSpec, build, inspect
from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.page import page as pages
from cheblienet_graphs.page.measured import MOST_EIGENVALUES
from cheblienet_graphs.page.page import check_file, page, write_page
from cheblienet_graphs.plot.figure import Figure
from cheblienet_graphs.plot.opened import OpenedGraph, open_graph
from cheblienet_graphs.report.findings import Finding
from cheblienet_graphs.report.inspect import Report
from cheblienet_graphs.store import durable

Reported = dict[str, tuple[Report, OpenedGraph]]
Made = Callable[..., Element]
SPECS = {
    "plane": GraphSpec("r2", "6x4", levels=2),
    "se2": GraphSpec("se2", 16, orientations=4, levels=2),
    "torus": GraphSpec("se2", 12, orientations=4, weights="selling", boundary="periodic", levels=1),
    "masked": GraphSpec("se2", mask=awkward(16), orientations=3, levels=1),
    "one": GraphSpec("se2", 4, orientations=1, levels=1),
    "space": GraphSpec("r3", 4, levels=1),
    "axes": GraphSpec("r3s2", "4x4x2", axes=4, spacing=(1, 1, 2), levels=1),
    "region": GraphSpec("s2", subdivisions=2, region=(-20, 20, 40, 70), levels=2),
    "sphere": GraphSpec("so3", subdivisions=1, orientations=3, levels=1),
    "apart": GraphSpec("se2", 8, orientations=4, xi=1000, levels=1),
}


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    """A report on each, with the graph."""
    store = tmp_path_factory.mktemp("pages") / "graphs.zarr"
    found = {}
    for name, spec in SPECS.items():
        build(spec, store, name=name)
        found[name] = (inspect(store, name), open_graph(store, name))
    return found


@pytest.fixture
def made(reported: Reported) -> Made:
    """The page of a report of which some fields are others."""

    def of(which: str, figures: Sequence[Figure] = (), **fields: Any) -> Element:
        report, graph = reported[which]
        return check_page(page(replace(report, **fields), graph, option=option, figures=figures))

    return of


def rows(html: Element, name: str) -> dict[str, list[str]]:
    """The rows of a table by their titles."""
    table = named(html, f"{name}-caption").parent
    assert table is not None
    return {
        row.children[0].words: [cell.words for cell in row.children[1:]]
        for row in table.inside("tr")
    }


def answers(html: Element) -> dict[str, list[str]]:
    """What is said at first, by question."""
    [glance] = [e for e in html.inside("dl") if e.attributes.get("class") == "glance"]
    return {
        answer.children[0].words: [said.words for said in answer.children[1:]]
        for answer in glance.children
    }


@pytest.mark.parametrize("name", SPECS)
def test_every_page_is_whole_and_alone(name: str, reported: Reported) -> None:
    report, graph = reported[name]
    document = page(report, graph, option=option, figures=[LINE, NOTHING])
    assert document == page(report, graph, option=option, figures=[LINE, NOTHING])
    html = check_page(document)
    assert len(document.encode()) < 200_000
    assert html.inside("h1")[0].words == f"{name}@v001"
    assert [e.words for e in html.inside("h2")][1:] == [
        *("Levels", "Figures", "Certificate", "Provenance")
    ]
    assert len(answers(html)) == 4
    assert not re.search(r"`\w+(=[^`]*)?`|\bNone\b|\bnan\b", html.inside("body")[0].text)
    assert rows(html, "levels-table")["vertices"] == [f"{x.vertices:,}" for x in report.levels]
    assert rows(html, "files").keys() - {"file"} == graph.facts.files.keys()
    for digest in (report.spec_sha256, graph.facts.sha256):
        assert digest in named(html, "provenance").text


def test_what_one_decides_from(made: Made, reported: Reported) -> None:
    said = {name: answers(made(name)) for name in ("torus", "se2", "space", "apart", "one")}
    consistent = {name: given["Consistent with its metric?"] for name, given in said.items()}
    assert consistent["torus"] == ["Yes"]
    assert consistent["se2"] == ["No", "why"]
    assert consistent["space"] == ["Not fully compared", "why"]
    assert said["torus"]["Connected?"] == ["Yes"]
    assert said["apart"]["Connected?"][0] == "No"
    assert said["apart"]["Connected?"][1].startswith("level 0: falls into 4 components")
    assert said["se2"]["How large?"][0].startswith("1,024 vertices, ")
    assert said["torus"]["Which symmetries?"] == [
        *("5 exact", "exact: rotation 90, rotation 180, flip, translation x, translation y")
    ]
    assert said["one"]["Which symmetries?"][0] == "2 exact"
    assert said["one"]["Which symmetries?"][2].startswith("|P'LP - L| of rotation 90 (approximate)")
    first, second = reported["se2"][0].levels
    changed = replace(second, finding=Finding("not measured", (1,)))
    differing = answers(made("se2", levels=(first, changed)))["Consistent with its metric?"]
    assert differing == ["Not on every level", "why"]


def test_the_remedy_is_a_command_that_helps(
    made: Made, reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = named(made("se2"), "consistency")
    assert part.inside("h2")[0].words == "Not consistent: what to do"
    assert "--weights selling" in [e.words for e in part.inside("code")]
    [line] = [e.words for e in part.inside("pre")]
    assert line.startswith("clg build se2 --size 16x16 ")
    assert line.endswith(" --weights selling --name se2-selling")
    monkeypatch.chdir(tmp_path)
    assert run([*line.split()[1:], "--quiet", "--store", "g.zarr"]) == 0
    assert reported["se2"][0].levels[0].consistency == "inconsistent"
    assert inspect("g.zarr").levels[0].consistency != "inconsistent"
    part = named(made("torus"), "consistency")
    assert (part.inside("h2")[0].words, part.inside("pre")) == ("Consistency", [])


def test_nothing_that_a_store_says_is_markup(made: Made, reported: Reported) -> None:
    hostile = replace(reported["plane"][0].levels[0], equivariance={HOSTILE: 0.0, "b": 1.0})
    names = dict.fromkeys(("name", "created", "spec_sha256"), HOSTILE)
    generator = {"name": HOSTILE, "version": HOSTILE}
    others = {"refs": (HOSTILE,), "generator": generator, "levels": (hostile,)}
    html = made("plane", [LINE, NOTHING], **names, **others)
    assert html.text.count("<script>alert(1)</script>") > 10
    assert html.inside("h1")[0].words.startswith("</svg></figure><script>")
    assert named(html, "figures").inside("figcaption")[0].words.endswith(HOSTILE)


def test_figures_come_with_title_caption_and_alternative(made: Made) -> None:
    part = named(made("se2", [LINE, OTHER, NOTHING, TWINS]), "figures")
    first, second, third = part.inside("figure")
    assert (first.attributes["id"], second.attributes["id"]) == ("figure-line", "figure-other-line")
    [svg] = first.inside("svg")
    assert svg.attributes["aria-labelledby"] == "figure-line-title figure-line-caption"
    assert svg.parent is not None
    assert svg.parent.attributes["style"] == "width: 480px; max-width: 100%; min-width: 384px"
    [left_out] = [e.words for e in part.inside("li")]
    assert left_out.startswith("Nothing: there is nothing of the kind.")
    assert len(third.inside("image")) == 2  # equal pictures, which have no equal names


def test_a_level_of_its_own_is_the_one_that_is_drawn(reported: Reported) -> None:
    (report, graph), told = reported["se2"], list[str]()
    one = replace(report, levels=report.levels[1:])
    shown = {"option": option, "figures": [LINE], "progress": lambda what, *_: told.append(what)}
    html = check_page(page(one, graph, **shown))
    assert told == ["level 1: drawing line"]
    assert "A line on level 1 of" in named(html, "figure-line-caption").words
    assert rows(html, "levels-table")[""] == ["level 1"]
    assert " edges on level 1; " in answers(html)["How large?"][0]


def test_figures_that_would_make_it_too_large_are_named(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_BYTES", 10_000)
    part = named(made("plane", [LINE, OTHER]), "figures")
    assert part.inside("figure") == []
    assert [e.words.endswith("draws it.") for e in part.inside("li")] == [True, True]
    assert [e.words for e in part.inside("code")] == ["clg plot line", "clg plot other-line"]


def test_the_certificate_has_what_was_measured(made: Made, reported: Reported) -> None:
    html, report = made("torus"), reported["torus"][0]
    [level] = report.levels
    assert rows(html, "equivariance")["flip"] == ["0"]
    moments = rows(html, "moments")
    assert [*moments][2:] == ["−90°", "−45°", "0°", "45°"]
    assert moments["0°"][0] == f"{report.spec.eps**2:.3g}"
    spectrum = rows(html, "eigenvalues")
    copies, value = level.multiplicities[1], level.eigenvalues[1]
    delta, _, exact, error = spectrum[f"{copies}"]
    assert float(delta) == pytest.approx(value, rel=1e-4)
    assert level.exact_eigenvalues is not None
    assert float(exact) == pytest.approx(level.exact_eigenvalues[1], rel=1e-5)
    assert float(error.split()[0]) / 100 == pytest.approx(value / float(exact) - 1, abs=1e-3)


def test_long_spectra_are_cut(made: Made, reported: Reported) -> None:
    many = {"eigenvalues": [*range(1, 101)], "exact_eigenvalues": [*range(1, 101)]}
    [level] = reported["torus"][0].levels
    html = made("torus", levels=(replace(level, **many, multiplicities=[1] * 100),))
    table = named(html, "eigenvalues-caption").parent
    assert table is not None
    assert len(table.inside("tr")) == MOST_EIGENVALUES + 2
    assert "60 more" in table.words


def test_without_eigenvalues_or_anything_measured_there_are_sentences(
    made: Made, reported: Reported
) -> None:
    none = {"eigenvalues": [], "multiplicities": [], "exact_eigenvalues": None}
    none |= {"effective_metric": [], "equivariance": {}}
    levels = tuple(replace(level, **none) for level in reported["plane"][0].levels)
    html = made("plane", levels=levels)
    assert named(html, "certificate").inside("table") == []
    assert "nothing was measured" in named(html, "certificate").words
    assert answers(html)["Which symmetries?"][0] == "0 exact"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    for document in ("<p>ε²</p>", "before"):
        write_page(document, file)
        assert file.read_text(encoding="utf-8") == document

    def full(path: Path, contents: bytes) -> None:
        path.write_bytes(contents[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(StoreError, match=r"No space left.*No report was written; free some space"):
        write_page("after", file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_folders_and_stores_are_refused(tmp_path: Path, reported: Reported) -> None:
    store = reported["se2"][1].version.parents[1]
    with pytest.raises(SpecError, match="html must be a file"):
        check_file(tmp_path)
    with pytest.raises(StoreError, match="there is no folder"):
        check_file(tmp_path / "missing" / "report.html")
    with pytest.raises(StoreError, match=r"is in the store .*; choose another `html`"):
        check_file(store / "se2" / "report.html")
