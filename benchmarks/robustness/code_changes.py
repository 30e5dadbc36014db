"""Small changes of Python code, one at a time, each of which a test should notice.

Comparisons, arithmetic, `and` with `or`; numbers one more, 0 for 1, True for False; conditions
negated, a minus or `not` left out; statements left out that call, raise or add; None returned in
place of a value; a bound of a slice left out; the first two arguments of a call swapped.

Docstrings, annotations, decorators, what is for type checkers alone, f-strings and what is raised
stay as they are: a test that knew their words would have to change with them.
"""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

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
OTHER: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}
UNCHANGED = {"annotation", "returns", "decorator_list"}
"""Fields that no change is made in."""


@dataclass(frozen=True)
class Change:
    """One change of a file.

    Args:
        original: the file as it is.
        node: what is replaced.
        changed: the code in its place, a line.
        function: line that the innermost function around it begins on, as code objects have it;
            None outside of functions.
    """

    original: str
    node: ast.expr | ast.stmt
    changed: str
    function: int | None

    def __str__(self) -> str:
        """Line and column, and the code before and after."""
        before = " ".join(map(str.strip, ast.unparse(self.node).splitlines()))
        return f"{self.node.lineno}:{self.node.col_offset + 1} `{before}` -> `{self.changed}`"

    @property
    def source(self) -> str:
        """The changed file."""
        contents = self.original.encode()
        lines = [b"", *contents.splitlines(keepends=True)]
        assert self.node.end_lineno is not None  # all that is parsed has ends
        start, end = (
            sum(map(len, lines[:number])) + (column or 0)
            for number, column in (
                (self.node.lineno, self.node.col_offset),
                (self.node.end_lineno, self.node.end_col_offset),
            )
        )
        return (contents[:start] + self.changed.encode() + contents[end:]).decode()


def changes(source: str) -> list[Change]:
    """All changes of a file, in the order of its code."""
    return [
        Change(source, replaced, changed, function)
        for node, function in _nodes(ast.parse(source))
        for replaced, changed in _changed(node)
    ]


def sampled(source_of: dict[str, str], count: int, seed: str) -> list[tuple[str, Change]]:
    """Some changes of several files, drawn from all of them; a larger sample begins with these.

    Args:
        source_of: sources by file.
        count: of the changes; all of them where there are fewer.
        seed: of the draw.
    """
    every = [(file, one) for file in sorted(source_of) for one in changes(source_of[file])]
    random.Random(seed).shuffle(every)
    return every[:count]


def _nodes(
    node: ast.AST, function: int | None = None
) -> Iterator[tuple[ast.expr | ast.stmt, int | None]]:
    """Expressions and statements that may be changed, with where their functions begin."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node, function
    if isinstance(node, ast.Raise | ast.JoinedStr):
        return
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        return
    if isinstance(node, ast.FunctionDef):
        function = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if field not in UNCHANGED and isinstance(child, ast.AST):
                yield from _nodes(child, function)


def _changed(node: ast.expr | ast.stmt) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """What changes of a node replace, and the code in its place."""
    match node:
        case ast.Expr(value=ast.Call()) | ast.Raise():
            yield node, "pass"
        case ast.AugAssign(op=operator) if type(operator) in ARITHMETIC:
            yield node, "pass"
            yield node, _with(node, op=ARITHMETIC[type(operator)]())
        case ast.Return(value=ast.expr() as value) if ast.unparse(value) != "None":
            yield node, "return None"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield test, f"(not ({ast.unparse(test)}))"
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            yield node, _with(node, op=ARITHMETIC[type(operator)]())
        case ast.Compare(ops=operators):
            for n, one in enumerate(operators):
                others = [*operators[:n], COMPARISONS[type(one)](), *operators[n + 1 :]]
                yield node, _with(node, ops=others)
        case ast.BoolOp(op=either):
            yield node, _with(node, op=OTHER[type(either)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield node, f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as truth):
            yield node, str(not truth)
        case ast.Constant(value=int() | float() as number):
            yield node, str(0 if number == 1 else number + 1)
        case ast.Slice():
            for bound in ("lower", "upper"):
                if getattr(node, bound) is not None:
                    yield node, _with(node, **{bound: None})
        case ast.Call(args=[first, second, *rest]) if ast.dump(first) != ast.dump(second):
            if not any(isinstance(one, ast.Starred) for one in (first, second)):
                yield node, _with(node, args=[second, first, *rest])


def _with(node: ast.expr | ast.stmt, **fields: Any) -> str:
    """Code of a node with other fields."""
    code = ast.unparse(type(node)(**dict(ast.iter_fields(node)) | fields))
    return f"({code})" if isinstance(node, ast.expr) and not isinstance(node, ast.Slice) else code
