"""Small changes of Python code, one at a time, each of which a test should notice.

Comparisons, arithmetic, `and` with `or`; numbers one more, 0 for 1, True for False; conditions
negated, a minus or `not` left out; statements left out that call, raise or add; None returned in
place of a value; a bound of a slice left out; the first two arguments of a call swapped.

Docstrings, annotations, decorators, what is for type checkers alone, f-strings and what is raised
stay as they are: a test that knew their words would have to change with them.
"""

import ast
import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

Place: TypeAlias = tuple[tuple[str, int | None], ...]
"""The way from a module to a node: fields, each with an index where it is a list."""

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd,
}  # fmt: skip
UNCHANGED = {"annotation", "returns", "decorator_list"}
"""Fields that no change is made in."""


@dataclass(frozen=True)
class Change:
    """One change of a file.

    Args:
        kind: of the change, in a word or two.
        tree: of the file.
        place: of the node that is replaced.
        node: it.
        changed: what it is replaced by.
    """

    kind: str
    tree: ast.Module
    place: Place
    node: ast.expr | ast.stmt
    changed: ast.expr | ast.stmt

    def __str__(self) -> str:
        """Line and column, and the code before and after."""
        before, after = _line(self.node), _line(self.changed)
        return f"{self.node.lineno}:{self.node.col_offset + 1} `{before}` -> `{after}`"

    @property
    def function(self) -> int | None:
        """Line that the innermost function around it begins on, as code objects have it."""
        found: int | None = None
        inner: ast.AST = self.tree
        for field, number in self.place:
            value = getattr(inner, field)
            inner = value if number is None else value[number]
            if isinstance(inner, ast.FunctionDef):
                found = min([inner.lineno, *(one.lineno for one in inner.decorator_list)])
        return found

    @property
    def source(self) -> str:
        """The changed file, without its comments."""
        copied = copy.deepcopy(self.tree)
        parent: ast.AST = copied
        for field, number in self.place[:-1]:
            value = getattr(parent, field)
            parent = value if number is None else value[number]
        field, number = self.place[-1]
        if number is None:
            setattr(parent, field, self.changed)
        else:
            getattr(parent, field)[number] = self.changed
        return ast.unparse(ast.fix_missing_locations(copied)) + "\n"


def changes(source: str) -> list[Change]:
    """All changes of a file, in the order of its code."""
    tree = ast.parse(source)
    return [
        Change(kind, tree, place, node, changed)
        for place, node in _nodes(tree, ())
        for kind, changed in _changed(node)
    ]


def sampled(source_of: dict[str, str], count: int, seed: str) -> list[tuple[str, Change]]:
    """Some changes of several files, drawn from all of them; a larger sample begins with these.

    Args:
        source_of: sources by file.
        count: of the changes; all of them where there are fewer.
        seed: of the draw.
    """
    found = [(file, one) for file in sorted(source_of) for one in changes(source_of[file])]
    random.Random(seed).shuffle(found)
    return found[:count]


def _nodes(node: ast.AST, place: Place) -> Iterator[tuple[Place, ast.expr | ast.stmt]]:
    """Expressions and statements that may be changed, with their places."""
    if isinstance(node, ast.expr | ast.stmt):
        yield place, node
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    for field, value in ast.iter_fields(node):
        if field in UNCHANGED:
            continue
        if isinstance(value, ast.AST):
            yield from _nodes(value, (*place, (field, None)))
        elif isinstance(value, list):
            for number, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _nodes(child, (*place, (field, number)))


def _changed(node: ast.expr | ast.stmt) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    """What may stand for a node, with the kinds of these changes."""
    if isinstance(node, ast.Expr | ast.Raise | ast.AugAssign):
        if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call):
            yield "left out", ast.Pass()
    elif isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield "None returned", ast.Return(ast.Constant(None))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
        yield "negated", changed
    elif isinstance(node, ast.AugAssign | ast.BinOp):
        yield from _other_operators(node)
    elif isinstance(node, ast.expr):
        yield from _changed_expression(node)


def _other_operators(node: ast.AugAssign | ast.BinOp) -> Iterator[tuple[str, ast.expr | ast.stmt]]:
    if type(node.op) in ARITHMETIC:
        changed = copy.deepcopy(node)
        changed.op = ARITHMETIC[type(node.op)]()
        yield "arithmetic", changed


def _changed_expression(node: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Compare):
        for number, operator in enumerate(node.ops):
            compared = copy.deepcopy(node)
            compared.ops[number] = COMPARISONS[type(operator)]()
            yield "comparison", compared
    elif isinstance(node, ast.BoolOp):
        either = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield "and, or", ast.BoolOp(either, copy.deepcopy(node.values))
    elif isinstance(node, ast.UnaryOp):
        if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
            yield "sign", copy.deepcopy(node.operand)
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield "constant", ast.Constant(not node.value)
        elif isinstance(node.value, int | float):
            yield "constant", ast.Constant(0 if node.value == 1 else node.value + 1)
    elif isinstance(node, ast.Slice):
        for bound in ("lower", "upper"):
            if getattr(node, bound) is not None:
                cut = copy.deepcopy(node)
                setattr(cut, bound, None)
                yield "slice", cut
    elif isinstance(node, ast.Call):
        yield from _swapped(node)


def _swapped(node: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    first = node.args[:2]
    starred = any(isinstance(argument, ast.Starred) for argument in first)
    if len(first) == 2 and not starred and ast.dump(first[0]) != ast.dump(first[1]):
        swapped = copy.deepcopy(node)
        swapped.args[:2] = swapped.args[1::-1]
        yield "swapped", swapped


def _line(node: ast.AST) -> str:
    """Code in one line; of a block its first one."""
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    lines = text.splitlines()
    return lines[0] if isinstance(node, ast.If | ast.While) else " ".join(map(str.strip, lines))
