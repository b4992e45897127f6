"""What kinds of outputs are known to be right, for a reference that is too slow to be asked again.

A tolerant checker may pass what is cheaper to make than the reference's output: bool for int64,
fewer items, a transposed view. So tests compare types, dtypes and shapes with the reference's. Of
timed calls only as many are compared so as time allows; of the others the output must be of a kind
that was right before, or the reference is asked after all.
"""

from dataclasses import dataclass
from typing import Any

from kernelbot.harness.inside.cage.comparison import has_dtype, has_nan


@dataclass(frozen=True)
class OutputKind:
    """An output without its numbers."""

    form: tuple[Any, ...]
    """Types, dtypes, devices, the number of axes and their order, and where there is NaN."""
    sizes: tuple[Any, ...]
    """Shapes, strides and lengths, which may depend on the data."""


def kind_of(output: Any) -> OutputKind:
    """The kind of an output."""
    sizes: list[Any] = []
    return OutputKind(_form(output, sizes), tuple(sizes))


class Kinds:
    """The right kinds of one shape's outputs."""

    def __init__(self) -> None:
        self._known: set[OutputKind] = set()
        self._varying: set[tuple[Any, ...]] = set()

    def has(self, kind: OutputKind) -> bool:
        """Whether outputs of this kind have been right. Sizes count until two right ones had
        different ones."""
        return kind in self._known or kind.form in self._varying

    def add(self, kind: OutputKind) -> None:
        """An output of this kind was right beside the reference's."""
        if self.has(kind):
            return
        if any(known.form == kind.form for known in self._known):
            self._varying.add(kind.form)
        self._known.add(kind)


def _form(part: Any, sizes: list[Any]) -> tuple[Any, ...]:
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    if has_dtype(part):
        strides = _strides(part)
        sizes.append((tuple(part.shape), strides))
        device = str(getattr(part, "device", ""))
        return name, str(part.dtype), device, _order(strides), has_nan(part)
    if isinstance(part, dict):
        return name, tuple((key, _form(item, sizes)) for key, item in part.items())
    if isinstance(part, list):
        sizes.append(len(part))
        return name, frozenset(_form(item, sizes) for item in part)
    if isinstance(part, tuple):
        return name, tuple(_form(item, sizes) for item in part)
    if hasattr(part, "__dict__"):
        return name, tuple((key, _form(item, sizes)) for key, item in vars(part).items())
    return name, isinstance(part, float | complex) and part != part


def _strides(array: Any) -> tuple[int, ...]:
    stride = getattr(array, "stride", None)
    return tuple(array.strides if stride is None else stride())


def _order(strides: tuple[int, ...]) -> tuple[int, ...]:
    """The axes in the order in which they lie in memory."""
    return tuple(sorted(range(len(strides)), key=lambda axis: -strides[axis]))
