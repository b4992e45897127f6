"""In the runner: loads a kernel from the author's file, and turns its errors into text."""

import contextlib
import importlib
import os
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from kernelbot.harness.inside.own_builds import began_ns

_MAX_ERROR_TEXT = 16 << 10
_SHARED = "task"


def import_all(names: Iterable[str]) -> str:
    """Import the problem's shared modules; which one failed and how, empty if none did."""
    for name in names:
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 (told to the judge, as the problem's failure)
            return f"{name}.py: {error!r}"
    return ""


def compile_module(path: Path, text: str) -> types.CodeType:
    """Write the file and compile it. Raises SyntaxError and ValueError, the author's fault."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(began_ns(), began_ns()))  # the same in each phase, as what was compiled has
    return compile(text, str(path), "exec", dont_inherit=True)


def run_module(path: Path, code: types.CodeType) -> Any:
    """Run the compiled module; its kernel, None if it has none. Raises anything."""
    kernel_of = kernel_finder()
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module
    exec(code, module.__dict__)  # noqa: S102 (running the author's code is the purpose)
    return kernel_of(module)


def kernel_finder() -> Callable[[types.ModuleType], Any]:
    """What gives the kernel of an author's module: `kernel_of` of the problem's task.py if it
    defines one, else the module's `custom_kernel`, None if it has none."""
    own = getattr(sys.modules.get(_SHARED), "kernel_of", None)
    return own if callable(own) else _custom_kernel


def _custom_kernel(module: types.ModuleType) -> Any:
    return module.__dict__.get("custom_kernel")


def flush_output() -> None:
    """Flush what the author has printed and Python still buffers."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()


def error_text(error: BaseException, folder: str) -> str:
    """The traceback without the harness's own frames at the top."""
    import traceback

    lines: list[str] = []
    frames = traceback.extract_tb(error.__traceback__)
    first = next((i for i, f in enumerate(frames) if f.filename.startswith(folder)), None)
    try:
        if first is not None:
            lines.append("Traceback (most recent call last):\n")
            lines.extend(traceback.format_list(frames[first:]))
        lines.extend(traceback.format_exception_only(error))
    except BaseException:  # noqa: BLE001 (an exception whose own methods raise)
        lines = [type(error).__name__]
    text = "".join(lines).replace(f"{folder}/", "").rstrip()
    return text if len(text) <= _MAX_ERROR_TEXT else text[:_MAX_ERROR_TEXT] + " [cut]"


def write_files(folder: str, files: dict[str, str]) -> None:
    """Write files into the author's folder, each at once: ranks share it, and one may import what
    another is about to write."""
    for name, text in files.items():
        draft = Path(folder, f"{name}.{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        draft.replace(Path(folder, name))
