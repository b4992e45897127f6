"""Frozen dataclasses for processes that soon end: their methods are compiled when they are called.

`dataclasses` compiles six methods of each class where it is declared, which takes 0.5 ms. A
command of the terminal loads a hundred such classes, and uses what some of them have. A server
uses nearly all, for as long as it runs: there the decorator is that of `dataclasses`.
"""

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass

_MISSING = dataclasses.MISSING
_NO_METHODS = {"init": False, "repr": False, "eq": False}
_MADE_BY = {
    "__init__": {"init": True, "frozen": True},
    "__repr__": {"repr": True},
    "__eq__": {"eq": True},
    "__hash__": {"unsafe_hash": True},
}
"""What has `dataclasses` make each method."""
_is_late = False


def compile_when_called() -> None:
    """Have the classes that are declared from now on be late. For a process of one thread."""
    global _is_late
    _is_late = True


if not TYPE_CHECKING:

    def dataclass(cls: type | None = None, /, **flags: bool) -> Any:
        """That of `dataclasses`; classes that inherit from each other take the same one."""
        if not (_is_late and flags.get("frozen") and flags.keys() <= {"frozen", "kw_only"}):
            return dataclasses.dataclass(cls, **flags)
        return partial(_declared, kw_only=flags.get("kw_only", False))


def _declared(cls: type, *, kw_only: bool) -> type:
    own = dict(vars(cls))
    inherited = getattr(cls, "__dataclass_params__", None)
    # Without words, they are made of the signature; and frozen classes inherit from frozen ones.
    if cls.__doc__ is None or (inherited is not None and inherited.frozen):
        return dataclasses.dataclass(frozen=True, kw_only=kw_only)(cls)
    dataclasses.dataclass(**_NO_METHODS, kw_only=kw_only)(cls)
    _freeze(cls)
    for name in _MADE_BY:
        goes_with_eq = name == "__hash__" and own.get(name, cls) is None and "__eq__" in own
        if name not in own or goes_with_eq:
            made = _init(cls) if name == "__init__" else _compiled_when_called(cls, name)
            made.__name__, made.__qualname__ = name, f"{cls.__qualname__}.{name}"
            setattr(cls, name, made)
    return cls


def _init(cls: Any) -> Callable[..., None]:
    """Sets the fields to what is given. Whatever is missing, or too much, is said by the method
    that `dataclasses` makes."""
    fields = dataclasses.fields(cls)
    by_place = [one.name for one in fields if not one.kw_only]
    has_more = hasattr(cls, "__post_init__")
    set_field = object.__setattr__

    def init(self: Any, *args: Any, **given: Any) -> None:
        values = {**dict(zip(by_place, args, strict=False)), **given}
        is_plain = len(args) + len(given) == len(values)
        for one in fields:
            if one.name in values:
                set_field(self, one.name, values.pop(one.name))
            elif one.default is not _MISSING:
                set_field(self, one.name, one.default)
            elif one.default_factory is not _MISSING:
                set_field(self, one.name, one.default_factory())
            else:
                is_plain = False
        if values or not is_plain:
            _compiled(cls, "__init__")(self, *args, **given)
        elif has_more:
            self.__post_init__()

    return init


def _compiled_when_called(cls: type, name: str) -> Callable[..., Any]:
    """A method that puts the one that `dataclasses` makes in its place."""

    def method(self: object, *args: object) -> object:
        made = _compiled(cls, name)
        setattr(cls, name, made)
        return made(self, *args)

    return method


def _compiled(cls: Any, name: str) -> Callable[..., Any]:
    """The method of a class with these fields: it knows nothing else of its class. `__init__` is
    called only to say what is wrong with the arguments, so it needs no `__post_init__`."""
    namespace = {"__doc__": cls.__doc__, "__module__": cls.__module__}
    namespace["__qualname__"] = cls.__qualname__
    fields = [(one.name, one.type, one) for one in dataclasses.fields(cls)]
    flags: dict[str, Any] = {**_NO_METHODS, **_MADE_BY[name]}
    twin = dataclasses.make_dataclass(cls.__name__, fields, namespace=namespace, **flags)
    made: Callable[..., Any] = vars(twin)[name]
    return made


def _freeze(cls: Any) -> None:
    """What `frozen=True` does, which would compile two methods at once: they know their class."""
    names = frozenset(one.name for one in dataclasses.fields(cls))

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = set_attribute, delete_attribute
