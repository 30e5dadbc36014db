"""The page: whole, alone, escaped, and in agreement with the report."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from drawings import HOSTILE, LINE, NOTHING, OTHER, TWINS
from parsed_pages import Element, check_page, every, named

from cheblienet_cli.spelling import option
from cheblienet_graphs.errors import SpecError, StoreError
from cheblienet_graphs.page import drawn
from cheblienet_graphs.page.measured import MOST_EIGENVALUES
from cheblienet_graphs.page.page import check_file, page, write_page
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.level import LevelReport
from cheblienet_graphs.report.record import Report
from cheblienet_graphs.store import durable

Reported = tuple[Report, OpenedGraph]
NAMES = ["plane", "se2", "torus", "masked", "one", "space", "axes", "region", "sphere", "apart"]


def rows(html: Element, name: str) -> dict[str, list[str]]:
    """The rows of a table by their titles."""
    found = [e.parent for e in every(html) if e.attributes.get("id") == f"{name}-caption"]
    table = found[0]
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


@pytest.mark.parametrize("name", NAMES)
def test_every_page_is_whole_and_alone(name: str, reported: dict[str, Reported]) -> None:
    report, graph = reported[name]
    document = page(report, graph, option=option, figures=[LINE, NOTHING])
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


def test_equal_reports_give_equal_pages(reported: dict[str, Reported]) -> None:
    assert page(*reported["se2"], figures=[LINE]) == page(*reported["se2"], figures=[LINE])


def test_what_one_decides_from(reported: dict[str, Reported]) -> None:
    said = {name: answers(check_page(page(*reported[name], figures=[]))) for name in NAMES}
    consistent = {name: given["Consistent with its metric?"][0] for name, given in said.items()}
    assert consistent["torus"] == "Yes"
    assert consistent["se2"] == "No"
    assert consistent["space"] == "Not fully compared"
    assert said["torus"]["Connected?"] == ["Yes", "one component"]
    assert said["apart"]["Connected?"] == ["No", "level 0: 4 components"]
    assert said["se2"]["How large?"][0] == "1,024 vertices"
    assert said["torus"]["Which symmetries?"] == [
        "5, exactly",
        "rotation by 90°, rotation by 180°, flip, translation along x, translation along y",
    ]
    assert said["one"]["Which symmetries?"][0] == "2, exactly"
    assert said["one"]["Which symmetries?"][2].startswith("rotation by 90° (approximate): |P'LP")


def test_levels_that_differ_are_told_apart(reported: dict[str, Reported]) -> None:
    report, graph = reported["se2"]
    first, second = report.levels
    changed = replace(second, consistency="consistent", components=3, isolated=2)
    html = check_page(page(replace(report, levels=(first, changed)), graph, figures=[]))
    assert answers(html)["Consistent with its metric?"] == [
        *("Not on every level", "level 0: no", "level 1: yes", "what to do")
    ]
    assert answers(html)["Connected?"] == [
        *("Not on every level", "level 1: 3 components", "level 1: 2 vertices without neighbours")
    ]


def test_the_remedy_is_a_command_that_helps(
    reported: dict[str, Reported], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cheblienet_cli.main import run
    from cheblienet_graphs import inspect

    report, graph = reported["se2"]
    html = check_page(page(report, graph, option=option, figures=[]))
    part = named(html, "consistency")
    assert part.inside("h2")[0].words == "Not consistent: what to do"
    assert "--weights selling" in [e.words for e in part.inside("code")]
    [line] = [e.words for e in part.inside("pre")]
    assert line.startswith("clg build se2 --size 16x16 ")
    assert line.endswith(" --weights selling --name se2-selling")
    monkeypatch.chdir(str(tmp_path))
    assert run([*line.split()[1:], "--quiet", "--store", "g.zarr"]) == 0
    assert report.levels[0].consistency == "inconsistent"
    assert inspect("g.zarr").levels[0].consistency != "inconsistent"


def test_without_a_command_line_the_page_speaks_python(reported: dict[str, Reported]) -> None:
    html = check_page(page(*reported["se2"], figures=[]))
    remedy, again, *_ = [e.words for e in html.inside("pre")]
    for lines, name in ((remedy, "se2-selling"), (again, "se2")):
        assert lines.startswith("from cheblienet_graphs import GraphSpec, build build(GraphSpec(")
        assert lines.endswith(f', "graphs.zarr", name="{name}")')
    assert not re.search(r"(?<![-\w])--[a-z]|clg build", html.inside("body")[0].text)


def test_without_a_fault_there_is_no_remedy(reported: dict[str, Reported]) -> None:
    part = named(check_page(page(*reported["torus"], figures=[])), "consistency")
    assert part.inside("h2")[0].words == "Consistency"
    assert part.inside("pre") == []


def test_nothing_that_a_store_says_is_markup(reported: dict[str, Reported]) -> None:
    report, graph = reported["plane"]
    hostile = replace(
        report,
        name=HOSTILE,
        refs=(HOSTILE,),
        created=HOSTILE,
        spec_sha256=HOSTILE,
        generator={"name": HOSTILE, "version": HOSTILE},
        levels=(replace(report.levels[0], equivariance={HOSTILE: 0.0, "b": 1.0}),),
    )
    html = check_page(page(hostile, graph, figures=[LINE, NOTHING]))
    assert html.text.count("<script>alert(1)</script>") > 10
    assert html.inside("h1")[0].words.startswith("</svg></figure><script>")
    assert named(html, "figures").inside("figcaption")[0].words.endswith(HOSTILE)


def test_figures_come_with_title_caption_and_alternative(reported: dict[str, Reported]) -> None:
    report, graph = reported["se2"]
    document = page(report, graph, option=option, figures=[LINE, OTHER, NOTHING])
    part = named(check_page(document), "figures")
    first, second = part.inside("figure")
    assert (first.attributes["id"], second.attributes["id"]) == ("figure-line", "figure-other-line")
    [svg] = first.inside("svg")
    assert svg.attributes["aria-labelledby"] == "figure-line-title figure-line-caption"
    assert svg.parent is not None
    assert svg.parent.attributes["style"] == "width: 480px; max-width: 100%; min-width: 384px"
    assert "#1f2328" not in document.split("</style>", 1)[1]  # ink is the colour of the text
    [left_out] = [e.words for e in part.inside("li")]
    assert left_out.startswith("Nothing: there is nothing of the kind.")


def test_equal_pictures_have_no_equal_names(reported: dict[str, Reported]) -> None:
    html = check_page(page(*reported["plane"], figures=[TWINS]))
    assert len(named(html, "figure-twins").inside("image")) == 2


def test_a_level_of_its_own_is_the_one_that_is_drawn(reported: dict[str, Reported]) -> None:
    report, graph = reported["se2"]
    html = check_page(page(replace(report, levels=report.levels[1:]), graph, figures=[LINE]))
    assert "A line on level 1 of" in named(html, "figure-line-caption").words
    assert rows(html, "levels-table")[""] == ["level 1"]
    assert answers(html)["How large?"][1].endswith(", on level 1")


def test_figures_that_would_make_it_too_large_are_named(
    reported: dict[str, Reported], monkeypatch: pytest.MonkeyPatch
) -> None:
    document = page(*reported["plane"], figures=[LINE])
    monkeypatch.setattr(drawn, "MOST_BYTES", len(document))
    part = named(check_page(page(*reported["plane"], figures=[LINE, OTHER, NOTHING])), "figures")
    assert len(part.inside("figure")) == 2
    monkeypatch.setattr(drawn, "MOST_BYTES", 10_000)
    part = named(check_page(page(*reported["plane"], figures=[LINE, OTHER])), "figures")
    assert part.inside("figure") == []
    assert [e.words.endswith("draws it.") for e in part.inside("li")] == [True, True]
    assert [e.words for e in part.inside("code")] == ["clg plot line", "clg plot other-line"]


def test_the_certificate_has_what_was_measured(reported: dict[str, Reported]) -> None:
    report, graph = reported["torus"]
    html = check_page(page(report, graph, figures=[]))
    [level] = report.levels
    assert rows(html, "equivariance")["flip"] == ["0"]
    moments = rows(html, "moments")
    assert [*moments][2:] == ["−90°", "−45°", "0°", "45°"]
    asked = report.spec.eps**2
    assert moments["0°"][0] == f"{asked:.3g}"
    spectrum = rows(html, "eigenvalues")
    copies, value = level.multiplicities[1], level.eigenvalues[1]
    delta, _, exact, error = spectrum[f"{copies}"]
    assert float(delta) == pytest.approx(value, rel=1e-4)
    assert level.exact_eigenvalues is not None
    assert float(exact) == pytest.approx(level.exact_eigenvalues[1], rel=1e-5)
    assert float(error.split()[0]) / 100 == pytest.approx(value / float(exact) - 1, abs=1e-3)


def test_long_spectra_are_cut(reported: dict[str, Reported]) -> None:
    report, graph = reported["torus"]
    [level] = report.levels
    many = [float(number) for number in range(1, 101)]
    long: LevelReport = replace(
        level, eigenvalues=many, exact_eigenvalues=many, multiplicities=[1] * 100
    )
    part = named(
        check_page(page(replace(report, levels=(long,)), graph, figures=[])), "certificate"
    )
    [table] = [t for t in part.inside("table") if "eigenvalues" in t.inside("caption")[0].words]
    assert len(table.inside("tr")) == MOST_EIGENVALUES + 2
    assert "60 more" in table.words


def test_without_eigenvalues_or_anything_measured_there_are_sentences(
    reported: dict[str, Reported],
) -> None:
    report, graph = reported["plane"]
    bare = tuple(
        replace(
            level,
            eigenvalues=[],
            multiplicities=[],
            exact_eigenvalues=None,
            effective_metric=[],
            equivariance={},
        )
        for level in report.levels
    )
    html = check_page(page(replace(report, levels=bare), graph, figures=[]))
    part = named(html, "certificate")
    assert part.inside("table") == []
    assert "nothing was measured" in part.words
    assert answers(html)["Which symmetries?"][0] == "None"


def test_progress_names_what_is_drawn(reported: dict[str, Reported]) -> None:
    told: list[str] = []
    report, graph = reported["plane"]
    page(report, graph, figures=[LINE, NOTHING], progress=lambda what, *_: told.append(what))
    assert told == ["level 0: drawing line", "level 0: drawing nothing"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    for document in ("<p>ε²</p>", "<p>other</p>"):
        write_page(document, file)
        assert file.read_text(encoding="utf-8") == document
        assert list(tmp_path.iterdir()) == [file]


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "report.html"
    write_page("before", file)

    def full(path: Path, contents: bytes) -> None:
        path.write_bytes(contents[:3])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "write", full)
    with pytest.raises(StoreError, match=r"No space left.*No report was written; free some space"):
        write_page("after", file)
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_folders_and_stores_are_refused(tmp_path: Path, store_of_pages: Path) -> None:
    with pytest.raises(SpecError, match="html must be a file"):
        check_file(tmp_path)
    with pytest.raises(StoreError, match="there is no folder"):
        check_file(tmp_path / "missing" / "report.html")
    with pytest.raises(StoreError, match=r"is in the store .*; choose another `html`"):
        check_file(store_of_pages / "se2" / "report.html")
