"""The author's kernel, from a Python file or from a shared object."""

from pathlib import Path

from kernelbot.harness.data.shared_memory import SharedBuffer
from kernelbot.harness.inside.cuda_on_cpu.coverage import NotCovered
from kernelbot.harness.inside.runner.kernels import (
    CompiledKernel,
    MissingSymbol,
    PythonKernel,
    TimedKernel,
)
from kernelbot.harness.inside.runner.loading import (
    compile_module,
    error_text,
    flush_output,
    run_module,
)
from kernelbot.harness.words.runner_messages import (
    Load,
    LoadLibrary,
    RefusalReason,
    RequestRefused,
)


def load_module(request: Load, folder: str) -> TimedKernel | RequestRefused:
    """The kernel of the author's file, which is written into their folder, or why there is none.
    Raises whatever the author's code raises."""
    path = Path(folder, request.name)
    try:
        code = compile_module(path, request.text)
    except (SyntaxError, ValueError) as error:
        return RequestRefused(RefusalReason.NOT_COMPILED, error_text(error, folder))
    try:
        kernel = run_module(path, code)
    except NotCovered as error:
        return RequestRefused(RefusalReason.NOT_COMPILED, str(error))
    flush_output()
    return PythonKernel(kernel) if callable(kernel) else RequestRefused(RefusalReason.MISSING)


def load_library(
    request: LoadLibrary, library: SharedBuffer, folder: str
) -> TimedKernel | RequestRefused:
    """The kernel of the author's shared object, which is written into their folder, or why there is
    none."""
    path = Path(folder, "kernel.so")
    path.write_bytes(library.read(0, request.size))
    library.close()
    try:
        return CompiledKernel.load(path, request.outputs, emulates=request.emulates)
    except OSError as error:
        return RequestRefused(RefusalReason.RAISED, str(error))
    except MissingSymbol:
        return RequestRefused(RefusalReason.MISSING)
