"""Elements of HTML. What is no `Markup` is text, and is escaped wherever it is put."""

import html
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

VOID = frozenset({"br", "col", "meta"})
"""Elements without an end tag."""
_CODE = re.compile(r"`([^`]*)`")
_OPTION = re.compile(r"(?<!\S)(-{2}[a-z][a-z-]*)")
_SIGN = re.compile(r"(?<![\w)^-])-(?=[\w(])")
_POWER = re.compile(r"\^(-?\d+(?:/\d+)?)")


class Markup(str):
    """Text that is HTML already; what str's own methods return is plain text again."""

    __slots__ = ()


def element(name: str, *content: str, **attributes: str) -> Markup:
    """An element with its content.

    Args:
        name: of the element.
        content: what is inside, in order; text is escaped.
        attributes: by name; `aria_label` is aria-label, `class_` is class.
    """
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
    )
    end = "" if name in VOID else f"{joined(content)}</{name}>"
    return Markup(f"<{name}{said}>{end}")


def joined(parts: Iterable[str]) -> Markup:
    """Parts one after the other; those that are text are escaped."""
    return Markup("".join(p if isinstance(p, Markup) else html.escape(p) for p in parts))


def prose(sentence: str, spelled: Callable[[str], str] = str) -> Markup:
    """A sentence of the library: what stands in backticks is code, and 2 is raised in eps^2.

    Args:
        sentence: plain text.
        spelled: writes a parameter such as `name=value`, backticks included, as readers know it.
    """
    parts = _CODE.split(sentence)
    return joined(
        element("code", spelled(f"`{part}`").strip("`")) if place % 2 else powers(part)
        for place, part in enumerate(parts)
    )


@dataclass(frozen=True)
class Say:
    """Makes HTML of the library's sentences.

    Args:
        option: writes a parameter, `name` or `name=value` in backticks, as an option of the command
            line; None for readers of Python, for whom it stays as it is.
    """

    option: Callable[[str], str] | None = None

    def __call__(self, sentence: str) -> Markup:
        """The sentence, as `prose` writes it."""
        return prose(sentence, self.option or str)


def powers(text: str) -> Markup:
    """Plain text, in which what follows ^ is raised, and signs are no hyphens."""
    *pairs, last = _pairs(_SIGN.sub("\N{MINUS SIGN}", text))
    return joined([*(part for pair in pairs for part in pair), *last])


def _pairs(text: str) -> Iterable[tuple[str, ...]]:
    """Text and the power after it, in turn; the last text has none."""
    parts = _POWER.split(text)
    for before, power in zip(parts[::2], parts[1::2], strict=False):
        yield before, element("sup", power.replace("-", "\N{MINUS SIGN}"))
    yield (parts[-1],)


def section(name: str, title: str, *content: str) -> Markup:
    """A section with its heading.

    Args:
        name: by which links find it.
        title: its heading.
        content: what is inside.
    """
    heading = element("h2", title, id=f"{name}-title")
    return element("section", heading, *content, id=name, aria_labelledby=f"{name}-title")


def listing(lines: str) -> Markup:
    """What is typed, as it is; no line is broken within an option's name."""
    parts = _OPTION.split(lines)
    return element(
        "pre",
        *(
            element("span", part, class_="whole") if place % 2 else part
            for place, part in enumerate(parts)
        ),
    )
