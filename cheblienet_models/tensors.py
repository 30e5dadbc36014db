"""Tensors as every room uses them: memory layout, precision, sparse matrices."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial, update_wrapper
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.autograd.forward_ad import unpack_dual

from cheblienet_graphs.csr import Csr
from cheblienet_graphs.store.durable import replace_whole
from cheblienet_models.arguments import file_path, instance

NAMESPACE = "cheblienet_models"
"""Namespace of operators: the package that a saved program with them needs imported."""


class CustomOp:
    """An operator of torch with a backward of its own; called with a tangent, it refuses.

    Torch has no derivatives in forward mode for operators of packages, and drops tangents without a
    word: torch.func.jvp and jacfwd would be 0.

    Args:
        name: after that of the package.
        schema: of arguments and results, in torch's language.
        compute: the kernel.

    Attributes:
        definition: what torch has of it.
    """

    def __init__(self, name: str, schema: str, compute: Callable[..., Any]) -> None:
        self._name = name
        whole = f"{NAMESPACE}::{name}"
        self.definition = torch.library.custom_op(whole, compute, mutates_args=(), schema=schema)
        self.register_fake = self.definition.register_fake
        self.register_autograd = self.definition.register_autograd
        update_wrapper(self, compute)

    def __call__(self, x: Tensor, second: object, *others: object) -> Any:
        """The result of the kernel.

        Raises:
            NotImplementedError: x, or what comes second, has a tangent.
        """
        if not torch.compiler.is_compiling() and (_has_tangent(x) or _has_tangent(second)):
            raise NotImplementedError(
                f"{self._name} has no derivative in forward mode, which torch.func.jvp takes. "
                "Use one in reverse mode, such as torch.autograd.functional.jvp."
            )
        return self.definition(x, second, *others)


def custom_op(name: str, schema: str) -> Callable[[Callable[..., Any]], CustomOp]:
    """Make a kernel a custom op."""
    return partial(CustomOp, name, schema)


def _has_tangent(value: object) -> bool:
    return isinstance(value, Tensor) and unpack_dual(value).tangent is not None


def vertex_major(x: Tensor) -> Tensor:
    """(B, C, V) -> contiguous (V, B, C): a view where x is vertex-major already, else a copy."""
    return x.permute(2, 0, 1).contiguous()


def logical(x: Tensor) -> Tensor:
    """(V, B, C) -> (B, C, V), a view."""
    return x.permute(1, 2, 0)


def paired(x: Tensor) -> Tensor:
    """(B, 2 C, V), first components, then second ones -> (2 V, B, C), those of a vertex in turn."""
    pairs: Tensor = vertex_major(x).unflatten(2, (2, -1))
    return pairs.transpose(1, 2).flatten(0, 1).contiguous()


def unpaired(x: Tensor) -> Tensor:
    """(2 V, B, C) -> (B, 2 C, V), the inverse of `paired`; vertex-major in memory."""
    return logical(x.unflatten(0, (-1, 2)).transpose(1, 2).flatten(2))


def quarter_turned(x: Tensor) -> Tensor:
    """Pairs (2 V, B, C) times i: (a, b) becomes (-b, a)."""
    first, second = x.unflatten(0, (-1, 2)).unbind(1)
    return torch.stack([-second, first], 1).flatten(0, 1)


def rotated(x: Tensor, angles: Tensor) -> Tensor:
    """Components (B, 2 C, ...) of fields times exp(i angles), which broadcast."""
    (first, second), cos, sin = x.chunk(2, 1), angles.cos().to(x), angles.sin().to(x)
    return torch.cat([cos * first - sin * second, sin * first + cos * second], 1)


def multiplied(x: Tensor, dtype: torch.dtype, product: Callable[[Tensor], Tensor]) -> Tensor:
    """A product, (m, N) -> (n, N), of every signal, (B, C, m) -> (B, C, n).

    In the wider of the matrix' and the signal's dtype, also under autocast.
    """
    with torch.autocast(autocast_type(x), enabled=False):
        y = product(vertex_major(x).to(torch.promote_types(dtype, x.dtype)).flatten(1))
    return logical(y.view(len(y), *x.shape[:2]))


def autocast_type(x: Tensor) -> str:
    """The kind of device that autocast knows a tensor by: it has none for `meta`."""
    return "cpu" if x.is_meta else x.device.type


def is_cast(x: Tensor) -> bool:
    """True if autocast, where it is on, casts a signal: not float64."""
    return torch.is_autocast_enabled(autocast_type(x)) and x.dtype != torch.float64


def uncast(x: Tensor) -> AbstractContextManager[Any]:
    """No autocast; where there is none, nothing, which takes no time."""
    kind = autocast_type(x)
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()


class Constants(nn.Module):
    """A module of tensors that nothing changes.

    They are no buffers: what treats these as state of a training, such as averages of networks,
    broadcasts between ranks and `.to_empty()`, neither sees nor spoils them. They follow a network
    to other devices and to float64, but keep their dtypes instead of half precision; exact ones,
    such as coordinates, keep them always.
    """

    _held: tuple[tuple[str, bool], ...] = ()
    """Names, and whether they are exact."""
    _left: dict[str, Tensor] = {}  # noqa: RUF012 -- replaced, never changed
    """Values of what is on `meta`, on the CPU: `.to_empty()` brings a network back from there."""

    def _hold(self, name: str, tensor: Tensor | None, *, exact: bool = False) -> None:
        """Have a tensor, or none, as the attribute of this name."""
        self._held = *self._held, (name, exact)
        setattr(self, name, tensor)

    def _hold_matrix(self, prefix: str, matrix: "CsrParts") -> None:
        """Have a matrix as the attributes `row_pointers`, `columns`, `values`, names prefixed."""
        for part, tensor in matrix._asdict().items():
            self._hold(prefix + part, tensor)

    def _matrix(self, prefix: str = "") -> "CsrParts":
        """A matrix that is held under a prefix."""
        return CsrParts(*[getattr(self, prefix + part) for part in CsrParts._fields])

    def _tensors(self) -> dict[str, Tensor]:
        """Names and tensors but for exact ones, in the order in which they came."""
        held = ((name, getattr(self, name)) for name, exact in self._held if not exact)
        return {name: tensor for name, tensor in held if tensor is not None}

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:  # noqa: FBT001, FBT002
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        left: dict[str, Tensor] = {}
        for name, exact in self._held:
            if (tensor := getattr(self, name)) is None:
                continue
            known = self._left[name].to(tensor.dtype) if name in self._left else tensor
            new = moved(known, fn, exact=exact)
            if new.is_meta and not known.is_meta:
                left[name] = known.cpu()
            setattr(self, name, new)
        self._left = left
        return self


def moved(constant: Tensor, fn: Callable[[Tensor], Tensor], *, exact: bool = False) -> Tensor:
    """A constant where a function that `.to()` and the like apply to a network puts tensors."""
    like = fn(constant.new_empty(0))
    if (like.device, like.dtype) == (constant.device, constant.dtype):
        fn(constant)  # `.share_memory()` changes it in place
        return constant
    wide = constant.is_floating_point() and like.dtype in {torch.float32, torch.float64}
    return constant.to(like.device, like.dtype if wide and not exact else constant.dtype)


class CsrParts(NamedTuple):
    """The tensors of a sparse matrix: row pointers (rows + 1,), columns and values (nnz,).

    Pointers and columns are of one dtype, int32 or int64; columns ascend in each row.
    """

    row_pointers: Tensor
    columns: Tensor
    values: Tensor

    @classmethod
    def of(cls, matrix: Csr) -> Self:
        """The tensors of a matrix of numpy arrays, in the same memory."""
        return cls(*map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data)))

    def rows(self) -> Tensor:
        """(nnz,) int64 row of each entry."""
        counts = self.row_pointers.long().diff()
        rows = torch.arange(len(counts), device=counts.device)
        return rows.repeat_interleave(counts, output_size=len(self.columns))


def shared(array: npt.NDArray[Any] | None) -> Tensor | None:
    """A tensor in the memory of an array; None of none."""
    return None if array is None else torch.from_numpy(array)


def csr_tensor(matrix: CsrParts, columns: int) -> Tensor:
    """The sparse CSR tensor, (rows, columns), over its parts, neither copied nor checked."""
    announce_sparse()
    shape = len(matrix.row_pointers) - 1, columns
    return torch.sparse_csr_tensor(*matrix, size=shape, check_invariants=False)


def padded(matrix: CsrParts, chosen: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(n, m) columns and values of rows, which end in the first column again, with the value 0.

    Views where all rows are asked for, and equally long.

    Args:
        matrix: with at least one entry in each of the rows.
        chosen: (n,) the rows; all where left out.
    """
    pointers = matrix.row_pointers.long()
    starts = pointers[:-1]
    counts = pointers.diff()
    if chosen is not None:
        starts, counts = starts[chosen], counts[chosen]
    width = int(counts.max())
    if chosen is None and bool((counts == width).all()):
        return matrix.columns.view(-1, width), matrix.values.view(-1, width)
    position = torch.arange(width)
    missing = position >= counts[:, None]
    entry = starts[:, None] + position.masked_fill(missing, 0)
    return matrix.columns[entry], matrix.values[entry].masked_fill(missing, 0)


@cache
def announce_sparse() -> None:
    """Let torch give its warnings of a first sparse matrix where nobody has to read them.

    One is that CSR is in beta. The other, of some versions, is that invariants are not checked,
    which is asked for here.
    """
    with warnings.catch_warnings():
        for message in ("Sparse CSR tensor support is in beta", "Sparse invariant checks are impl"):
            warnings.filterwarnings("ignore", message=message)
        torch.sparse_csr_tensor([0, 1], [0], [1.0], size=(1, 1), check_invariants=False)


def polynomials(
    matrix: Tensor, x: Tensor, count: int, scratch: tuple[Tensor, Tensor] | None = None
) -> Iterator[Tensor]:
    """T_1(L) x, T_2(L) x, ... T_{count - 1}(L) x, in two buffers that take turns.

    Args:
        matrix: L, (V, V), sparse.
        x: (V, N), of its dtype.
        count: of the terms, x itself among them.
        scratch: the buffers, of x's shape and dtype; made where left out.
    """
    before, last = scratch or (torch.empty_like(x), torch.empty_like(x))
    for step in range(1, count):
        if step == 1:
            last.addmm_(matrix, x, beta=0)
        else:
            # x itself is the caller's, and left as it is.
            target = before.copy_(x) if step == 2 else before
            before = last
            last = target.addmm_(matrix, last, beta=-1, alpha=2)
        yield last


def sparse_product(matrix: CsrParts, transposed: CsrParts, x: Tensor) -> Tensor:
    """A sparse matrix times a dense one, (sources, n) -> (targets, n).

    Args:
        matrix: (targets, sources).
        transposed: its transpose, (sources, targets).
        x: (sources, n); its dtype is used.
    """
    return linear(x, partial(_times, matrix), partial(_times, transposed))


def _times(matrix: CsrParts, x: Tensor) -> Tensor:
    product = csr_tensor(matrix._replace(values=matrix.values.to(x.dtype)), len(x))
    if x.is_meta:  # on which torch has no sparse products
        return x.new_empty(product.shape[0], x.shape[1])
    return product @ x


Linear = Callable[[Tensor], Tensor]


def linear(x: Tensor, apply: Linear, transposed: Linear) -> Tensor:
    """A linear function of x; its backward is the transpose, differentiable again."""
    return cast("Tensor", _Linear.apply(x, apply, transposed))  # type: ignore[no-untyped-call]


class _Linear(torch.autograd.Function):
    """`linear`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, apply: Linear, transposed: Linear) -> Tensor:
        ctx.back = transposed, apply
        return apply(x)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        return linear(grads[0].contiguous(), *ctx.back), None, None


def save_npz(path: str | Path, matrix: Tensor) -> Path:
    """Write a matrix in the layout of scipy.sparse.save_npz, at once: no reader sees half of it.

    Args:
        path: of the file; `.npz` is appended where it does not end so, as scipy does.
        matrix: (rows, columns) sparse CSR, float32 or float64, on any device.

    Returns:
        Where the file is.

    Raises:
        TypeError: the matrix is none, or path names no file.
        ValueError: the matrix is not sparse CSR, or of another dtype.
        OSError: it can't be written; what was there before is left as it was.
    """
    path = file_path("path", path)
    _check_csr(matrix)
    target = path if str(path).endswith(".npz") else Path(f"{path}.npz")
    parts = {"indptr": matrix.crow_indices(), "indices": matrix.col_indices()}
    parts["data"] = matrix.values()
    arrays: dict[str, Any] = {name: part.detach().cpu().numpy() for name, part in parts.items()}
    arrays |= {"format": np.array(b"csr"), "shape": np.array(tuple(matrix.shape), dtype=np.int64)}
    replace_whole(target, lambda file: np.savez_compressed(file, **arrays))
    return target


def _check_csr(matrix: Tensor) -> None:
    """Check that a matrix is one that `save_npz` takes."""
    instance("matrix", matrix, Tensor)
    kinds = {torch.float32, torch.float64}
    if matrix.is_meta:
        raise ValueError("matrix must have values. Got one on meta, which has none.")
    if matrix.layout != torch.sparse_csr or matrix.dtype not in kinds or matrix.ndim != 2:
        raise ValueError(
            "matrix must be a sparse CSR tensor of two dimensions, float32 or float64. Got "
            f"{matrix.dtype} of shape {tuple(matrix.shape)}, {matrix.layout}: x.to_sparse_csr()."
        )
