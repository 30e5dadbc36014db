"""How long the sentences of each page are, and its reading grade: prose alone.

python .ci/prose.py [FILE...]

Without files: README.md, CONTRIBUTING.md, paper.md, what CHANGELOG.md says of the newest release,
and every page and gallery script of docs/ that is written by hand. Code, tables, headings, formulas
in blocks and comments are left out; code and formulas within a line count as one word. The grade is
Flesch and Kincaid's, with syllables counted as groups of vowels. The exit code is 1 where the mean
sentence of a page is longer than 18 words.
"""

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = {"docs/reference/cli.md"}
LONGEST_MEAN = 18
NOT_PROSE = [
    re.compile(r"\A---\n.*?^---$", re.DOTALL | re.MULTILINE),  # metadata
    re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^\$\$.*?\$\$[.,]?$", re.DOTALL | re.MULTILINE),
    re.compile(r"^ *[|#].*$", re.MULTILINE),  # tables and headings
    re.compile(r"!\[[^\]]*\]\([^)]*\)"),
]
IN_LINE = [
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),  # a link's text
    (re.compile(r"`+[^`]+`+|(?<!\d)\$[^$]+\$"), "term"),
]
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
SENTENCE = re.compile(r"(?<=[.!?])[)\"]*\s+(?=[(\"]?[A-Z0-9]|term)")
WORD = re.compile(r"[^\W_][\w'.,-]*")
VOWELS = re.compile(r"[aeiouy]+")


@dataclass(frozen=True)
class Prose:
    """What one page's sentences are like.

    Attributes:
        sentences: the words of each.
    """

    sentences: tuple[tuple[str, ...], ...]

    @property
    def words(self) -> int:
        """All words of the page."""
        return sum(map(len, self.sentences))

    @property
    def mean(self) -> float:
        """Words in a sentence."""
        return self.words / max(1, len(self.sentences))

    @property
    def longest(self) -> int:
        """Words in the longest sentence."""
        return max(map(len, self.sentences), default=0)

    @property
    def grade(self) -> float:
        """Flesch and Kincaid's grade: years of school."""
        syllables = sum(syllables_of(word) for sentence in self.sentences for word in sentence)
        return 0.39 * self.mean + 11.8 * syllables / max(1, self.words) - 15.59


def syllables_of(word: str) -> int:
    """Groups of vowels, without a silent e; at least 1."""
    word = word.lower()
    silent = word.endswith("e") and not word.endswith(("le", "ee"))
    return max(1, len(VOWELS.findall(word)) - silent)


def prose_of(text: str) -> Prose:
    """The sentences of Markdown: a paragraph, and an item of a list, ends one."""
    for pattern in NOT_PROSE:
        text = pattern.sub("", text)
    for pattern, instead in IN_LINE:
        text = pattern.sub(instead, text)
    paragraphs = (" ".join(paragraph.split()) for paragraph in PARAGRAPH.split(text))
    sentences = (sentence for paragraph in paragraphs for sentence in SENTENCE.split(paragraph))
    return Prose(tuple(tuple(words) for words in map(WORD.findall, sentences) if words))


def text_of(file: Path) -> str:
    """A page: of a gallery script its text blocks, of the changelog the newest release."""
    text = file.read_text()
    if file.suffix == ".py":
        return "\n\n".join([ast.get_docstring(ast.parse(text)) or "", *_comments(text)])
    if file.name == "CHANGELOG.md":
        return text.partition("\n## ")[2].partition("\n## ")[0]
    return text


def _comments(script: str) -> Iterator[str]:
    """The text between the blocks of a gallery script."""
    for block in re.findall(r"^# %%\n((?:# .*\n)+)", script, re.MULTILINE):
        yield re.sub(r"^# ", "", block, flags=re.MULTILINE)


def pages() -> list[Path]:
    """Those that are written by hand."""
    first = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "paper.md", "CHANGELOG.md"))
    written = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs/gallery").glob("*.py")]
    kept = (
        page
        for page in sorted(written)
        if not {"_build", "_gallery"} & set(page.parts)
        and str(page.relative_to(ROOT)) not in GENERATED
    )
    return [*filter(Path.exists, first), *kept]


def main(arguments: list[str]) -> int:
    """Print a row for each page."""
    files = [Path(name).resolve() for name in arguments] or pages()
    rows = [(file, prose_of(text_of(file))) for file in files]
    print("| page | words | sentences | mean | longest | grade |")
    print("|---|---|---|---|---|---|")
    for file, prose in rows:
        name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else file
        counts = f"{prose.words:,} | {len(prose.sentences)} | {prose.mean:.1f} | {prose.longest}"
        print(f"| {name} | {counts} | {prose.grade:.1f} |")
    return int(any(prose.mean > LONGEST_MEAN for _, prose in rows))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
