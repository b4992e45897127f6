"""KernelBot: submissions of kernels, judged in a sandbox, measured honestly, ranked at once."""

from importlib import import_module

__version__ = "0.1.0"

_CLIENT, _LIBRARY, _NOTEBOOK = "kernelbot.client", "kernelbot.library", "kernelbot.notebook"
_HOMES = {
    "AsyncKernelbotClient": _CLIENT,
    "Baseline": _LIBRARY,
    "Judge": _LIBRARY,
    "KernelbotClient": _CLIENT,
    "OtherData": _LIBRARY,
    "Report": _LIBRARY,
    "RewardKind": _LIBRARY,
    "RewardRule": _LIBRARY,
    "judge": _LIBRARY,
    "load_ipython_extension": _NOTEBOOK,
}
"""What can be imported from here, and where it is: loaded when it is first asked for, since every
process of ours imports this package. Type checkers read `__init__.pyi`."""


def __getattr__(name: str) -> object:
    """Raises AttributeError, and ImportError if a client is installed, which judges nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        extra = "notebook" if _HOMES[name] == _NOTEBOOK else "judge"
        raise ImportError(
            f"kernelbot.{name} needs more than the client: install the extra `{extra}` ({error})."
        ) from error


def __dir__() -> list[str]:
    return sorted((*globals(), *_HOMES))
