"""Elements: what is no markup is escaped."""

from hypothesis import given
from hypothesis import strategies as st
from parsed_pages import parsed

from cheblienet_graphs.page.html import Markup, element, joined, prose


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_text_and_attributes_come_back_as_they_were(text: str) -> None:
    html = parsed(f"<!DOCTYPE html>\n{element('p', text, class_=text)}")
    assert (html.tag, html.text, html.attributes) == ("p", text, {"class": text})
    assert html.children == []


@given(st.text("<>&\"'`^-2b/=. "))
def test_prose_adds_no_other_elements_than_code_and_powers(text: str) -> None:
    html = parsed(f"<!DOCTYPE html>\n{element('p', prose(text))}")
    assert {child.tag for child in html.children} <= {"code", "sup"}
    assert all(not child.children for child in html.children)


def test_prose_marks_code_and_powers() -> None:
    assert prose("use `weights='x'`, eps^-2 or N^-1/2 v^2") == (
        "use <code>weights=&#x27;x&#x27;</code>, eps<sup>\N{MINUS SIGN}2</sup> or "
        "N<sup>\N{MINUS SIGN}1/2</sup> v<sup>2</sup>"
    )


def test_markup_that_is_cut_or_changed_is_text_again() -> None:
    bold = element("b", "x")
    assert joined([bold]) == "<b>x</b>"
    assert joined([bold.upper()]) == "&lt;B&gt;X&lt;/B&gt;"
    assert not isinstance(bold + bold, Markup)
