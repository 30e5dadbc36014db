"""The page as a browser lays it out."""

from pathlib import Path

import pytest
from browser import chromium, measured
from drawings import LINE, OTHER

from cheblienet_cli.spelling import option
from cheblienet_graphs.page.page import page
from cheblienet_graphs.plot.opened import OpenedGraph
from cheblienet_graphs.report.record import Report

WIDTHS = [360, 1280]
SCRIPT = """
const root = document.documentElement, over = [];
for (const element of document.querySelectorAll("body *")) {
  if (element.closest("svg") && element.tagName !== "svg") continue;
  const box = element.closest(".scroll");
  if ((!box || box === element) && element.getBoundingClientRect().right > root.clientWidth + 0.5)
    over.push(element.outerHTML.slice(0, 80));
}
const boxes = [...document.querySelectorAll(".scroll")];
return {
  width: root.clientWidth, scroll: root.scrollWidth, over, boxes: boxes.length,
  scrolling: boxes.filter((box) => box.scrollWidth > box.clientWidth).length,
  drawn: [...document.querySelectorAll("svg")].map((svg) => svg.getBoundingClientRect().width),
};
"""


@pytest.mark.slow
@pytest.mark.skipif(chromium() is None, reason="no Chromium is installed here")
def test_nothing_overflows_on_a_phone_or_a_desk(
    reported: dict[str, tuple[Report, OpenedGraph]], tmp_path: Path
) -> None:
    program = chromium()
    assert program is not None
    for name in ("se2", "region"):
        document = page(*reported[name], option=option, figures=[LINE, OTHER])
        phone, desk = measured(program, document, WIDTHS, SCRIPT, tmp_path)
        assert (phone["width"], desk["width"]) == (360, 1280)
        for seen in (phone, desk):
            assert seen["over"] == []
            assert seen["scroll"] == seen["width"]
            assert seen["boxes"] >= 6
        assert desk["scrolling"] == 0
        assert phone["scrolling"] >= 1  # the check can fail: what is too wide there is in its box
        assert desk["drawn"] == [pytest.approx(480), pytest.approx(864)]
        assert phone["drawn"] == [pytest.approx(384), pytest.approx(691.2, abs=1)]
