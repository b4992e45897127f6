"""FastAPI's fields, of which each is built when its first value is read or written.

FastAPI has pydantic build each parameter, body and answer of each route as it is declared: some
640, a sixth of the time in which a server loads. Most are of routes that nobody asks for a while.
"""

from typing import Any

from fastapi._compat import ModelField

_BUILT = "_type_adapter"
"""What FastAPI reads and writes values by; it is made by a field's `__post_init__`."""


def build_when_used() -> None:
    """Have the fields of all routes that are declared from now on be late. A type that pydantic
    can't build is an error where it is used, and in `tests/api/test_late_fields.py`."""
    if "__getattr__" in vars(ModelField) or "__post_init__" not in vars(ModelField):
        return
    build = ModelField.__post_init__

    def built(field: ModelField, name: str) -> Any:
        if name != _BUILT:
            raise AttributeError(name)
        build(field)
        return vars(field)[_BUILT]

    def postponed(self: ModelField) -> None:
        """Left to `built`."""

    ModelField.__post_init__ = postponed  # type: ignore[method-assign]
    ModelField.__getattr__ = built  # type: ignore[attr-defined]
