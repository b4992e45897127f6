"""Objects of a problem's own classes as what they consist of: attributes, and tensors of a module.

Only in the data of a call, whose classes author and problem both have. An object is built without
its class's code: no `__init__` runs but that of `torch.nn.Module` itself.
"""

from typing import Any

_OF_MODULES = ("_parameters", "_buffers", "_modules")


def attributes(value: object, torch: Any) -> tuple[dict[str, Any], list[str] | None] | None:
    """The attributes of an object, and which are a module's buffers (None if it is no module).
    None if there is more to it: slots, or hooks of a module. `torch`: None if there is none."""
    if not hasattr(value, "__dict__") or any("__slots__" in vars(c) for c in type(value).__mro__):
        return None
    if not _is_module(type(value), torch):
        return dict(vars(value)), None
    plain, fresh = dict(vars(value)), vars(torch.nn.Module())
    registered = [plain.pop(name) for name in _OF_MODULES]
    is_passing = plain.pop("_non_persistent_buffers_set")
    hooks = {name: plain.pop(name) for name in fresh if name in plain and name != "training"}
    if is_passing or any(fresh[name] != hook for name, hook in hooks.items()):
        return None
    for named in registered:
        plain.update(named)
    return plain, list(registered[1])


def rebuild(kind: type, named: dict[str, Any], buffers: list[str] | None, torch: Any) -> Any:
    """An object of `kind` with these attributes. Raises ValueError for a module that is none."""
    made: Any = object.__new__(kind)
    if buffers is None:
        for name, part in named.items():
            object.__setattr__(made, name, part)
        return made
    if not _is_module(kind, torch):
        raise ValueError("buffers of what is no module")
    base = torch.nn.Module
    base.__init__(made)
    for name, part in named.items():
        if name in buffers:
            base.register_buffer(made, name, part)
        else:
            base.__setattr__(made, name, part)
    return made


def _is_module(kind: type, torch: Any) -> bool:
    base = getattr(getattr(torch, "nn", None), "Module", None)
    return base is not None and issubclass(kind, base)
