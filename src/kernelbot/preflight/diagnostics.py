"""Errors and warnings with their places, from what compilers and Python print."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise, takewhile

from kernelbot.domain.source_lines import source_lines
from kernelbot.preflight.model import Diagnostic, Severity

MOST = 200
"""Diagnostics of one report."""
_LONGEST_LINE = 2000
_MAX_MESSAGE = 500
_LONGEST_KERNEL = 1000
"""Lines of a Triton kernel that are looked through for the caret."""
_NVCC = re.compile(
    r"^(\S.{0,300}?)\((\d{1,7})\): (error|warning|catastrophic error)[^:]{0,40}: (.+)"
)
_GCC = re.compile(r"^(\S[^:]{0,300}):(\d{1,7}):(?:(\d{1,7}):)? (?:fatal )?(error|warning): (.+)")
_PTXAS = re.compile(r"^ptxas (?:(.{1,300}), line (\d{1,7}); )?(error|fatal|warning)\s*: (.+)")
_MANGLED = re.compile(r"'_Z(\d{1,3})(\w{1,400})'")
"""A function's name in ptxas's words, unless it is in a namespace."""
_LINKER = re.compile(r"^(?:.{0,300}: )?(undefined reference to .+|cannot find .+)")
_TRITON = re.compile(
    r"^(?:\S*\.)?(?:CompilationError|UnsupportedLanguageConstruct): at (\d+):(\d+):"
)
_PYTHON = re.compile(r'^\s*File "(.{1,300})", line (\d{1,7})')
_RAISED = re.compile(r"^(?:\S*\.)?(\w*(?:SyntaxError|IndentationError|PTXASError)): (.+)")
_NVCC_ITSELF = re.compile(r"^nvcc (?:fatal|error)\s*: ")
_UNKNOWN_GPU = re.compile(
    r"^[ \t]*+(ptxas fatal\s{0,20}: Value '.{1,40}' is not defined for option 'gpu-name')",
    re.MULTILINE,
)
_NO_HEADER = re.compile(
    r"\b((?:cublas|cusparse|cusolver|curand|cufft|cudnn|nvrtc|nvjitlink|npp|nccl|cutlass/|cute/)"
    r"[\w./]{0,100}\.(?:h|hpp|cuh)): No such file or directory"
)
_BY_PTXAS = "PTXASError: "
"""What Triton raises if ptxas fails, for whatever reason."""
_CARET = re.compile(r"^\s*\^\s*$")
_EXTENSIONS = "torch_extensions/"
"""In the path of a source that `load_inline` has written from a text of the author's file."""
_SPACE = re.compile(r"__attribute__\(\((global|device|host|shared|constant)\)\)")
"""As nvcc shows `__global__` and its like."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object of Python's: another one in each process."""


class SourceText:
    """The author's text, in which lines are looked up; a large one takes some 50 ms once."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def lines(self) -> list[str]:
        """The file's lines, numbered by compilers from 1."""
        return source_lines(self._text)

    @cached_property
    def stripped_line_numbers(self) -> dict[str, int | None]:
        """The same without spaces around them; None also if it is empty."""
        found: dict[str, int | None] = {"": None}
        for number, text in enumerate(self.lines, 1):
            found[text.strip()] = None if text.strip() in found else number
        return found

    @cached_property
    def line_numbers(self) -> dict[str, int | None]:
        """Where each line of the file stands; None: at several places."""
        found: dict[str, int | None] = {}
        for number, text in enumerate(self.lines, 1):
            found[text] = None if text in found else number
        return found


def read_diagnostics(output: str, source: str, file: str) -> tuple[Diagnostic, ...]:
    """All that are found in a compiler's or an interpreter's words, each once, the errors first.

    `source`, `file`: the author's text and its name, by which nvcc's caret becomes a column, and
    a line of a Triton kernel one of the file. That ptxas doesn't know the GPU isn't among them.
    """
    return diagnostics_in(output, SourceText(source), file)


def diagnostics_in(output: str, source: SourceText, file: str) -> tuple[Diagnostic, ...]:
    """The same, for whoever reads several outputs of one file."""
    lines = [line[:_LONGEST_LINE] for line in output.splitlines()]
    found = dict.fromkeys(_read(lines, source, file))
    if unknown_gpu(output):
        found = {one: None for one in found if not _is_of_ptxas(one)}
    errors = [one for one in found if one.severity is Severity.ERROR]
    warnings = [one for one in found if one.severity is not Severity.ERROR]
    return tuple((errors + warnings)[:MOST])


def is_compilers_own(message: str) -> bool:
    """Whether a compiler says here that it failed itself: it doesn't know the GPU, or one of nvcc's
    programs crashed. In a file they name a place."""
    return bool(_NVCC_ITSELF.match(message) or unknown_gpu(message))


def missing_header(message: str) -> str:
    """The header of one of CUDA's libraries, or of CUTLASS, that a compiler didn't find; empty if
    it says something else. A machine with GPUs may well have it."""
    found = _NO_HEADER.search(message)
    return found[1] if found else ""


def unknown_gpu(output: str) -> str:
    """What a ptxas says that is too old for the GPU; empty if none says so."""
    found = _UNKNOWN_GPU.search(output)
    return found[1] if found else ""


def _is_of_ptxas(found: Diagnostic) -> bool:
    return found.message.startswith(_BY_PTXAS) or "'gpu-name'" in found.message


def _read(lines: list[str], source: SourceText, file: str) -> Iterator[Diagnostic]:
    place: tuple[str, int] | None = None
    for number, line in enumerate(lines):
        if python := _PYTHON.match(line):
            place = (python[1], int(python[2]))
        elif compiled := _compiler(line):
            compiled = _in_file(compiled, lines[number + 1 : number + 2], source, file)
            if compiled.column is None and compiled.file.removeprefix("./") == file:
                yield _with_column(compiled, lines[number + 1 : number + 4], source.lines)
            else:
                yield compiled
        elif triton := _TRITON.match(line):
            shown = lines[number + 1 : number + 1 + _LONGEST_KERNEL]
            yield _of_triton(
                triton, list(takewhile(_is_of_kernel, shown)), source.line_numbers, file
            )
        elif raised := _RAISED.match(line):
            name, at = place or ("", None)
            column = _caret_column(lines[number - 2 : number], source.lines, at)
            text = f"{raised[1]}: {raised[2]}"[:_MAX_MESSAGE]
            yield Diagnostic(Severity.ERROR, text, name, at, column)


def _is_of_kernel(line: str) -> bool:
    """Another kernel's error ends what is shown of one. A text may hold nothing but errors."""
    return _TRITON.match(line) is None


def _compiler(line: str) -> Diagnostic | None:
    if nvcc := _NVCC.match(line):
        return Diagnostic(_severity(nvcc[3]), nvcc[4][:_MAX_MESSAGE], nvcc[1], int(nvcc[2]))
    if gcc := _GCC.match(line):
        column = int(gcc[3]) if gcc[3] else None
        return Diagnostic(_severity(gcc[4]), gcc[5][:_MAX_MESSAGE], gcc[1], int(gcc[2]), column)
    if ptxas := _PTXAS.match(line):
        at = int(ptxas[2]) if ptxas[2] else None
        message = _MANGLED.sub(_written_name, ptxas[4][:_MAX_MESSAGE])
        return Diagnostic(_severity(ptxas[3]), message, ptxas[1] or "", at)
    if linker := _LINKER.match(line):
        return Diagnostic(Severity.ERROR, linker[1][:_MAX_MESSAGE])
    return None


def _in_file(found: Diagnostic, shown: list[str], source: SourceText, file: str) -> Diagnostic:
    """What stands in a text that `load_inline` was given, at its line of the author's file, if the
    compiler shows a line that is there once."""
    if _EXTENSIONS not in found.file or not shown:
        return found
    line = source.stripped_line_numbers.get(_SPACE.sub(r"__\1__", shown[0]).strip())
    if line is None:
        return found
    return Diagnostic(found.severity, found.message, file, line)


def _written_name(mangled: re.Match[str]) -> str:
    """A function's name as its author wrote it, without its types."""
    length, rest = int(mangled[1]), mangled[2]
    return f"'{rest[:length]}'" if length <= len(rest) else mangled[0]


def _severity(word: str) -> Severity:
    return Severity.WARNING if word == "warning" else Severity.ERROR


def _with_column(found: Diagnostic, after: list[str], source: list[str]) -> Diagnostic:
    column = _caret_column(after, source, found.line)
    return Diagnostic(found.severity, found.message, found.file, found.line, column)


def _caret_column(shown: list[str], source: list[str], line: int | None) -> int | None:
    """The column in the file's line that a caret below a shown line points at. Compilers indent
    what they show, and nvcc replaces some words in it: what follows the caret is looked for."""
    if line is None or not 0 < line <= len(source):
        return None
    for text, below in pairwise(shown):
        marked = below.find("^")
        if marked < 0 or below[:marked].strip():
            continue
        rest, whole = text[marked:].rstrip(), source[line - 1].rstrip()
        if rest and whole.endswith(rest):
            return len(whole) - len(rest) + 1
    return None


def _of_triton(
    found: re.Match[str], after: list[str], places: dict[str, int | None], file: str
) -> Diagnostic:
    """Triton counts lines from the kernel's own first line, and shows the kernel up to the wrong
    one, above a caret: there the file has the same text."""
    caret = next((at for at, text in enumerate(after) if _CARET.match(text)), None)
    shown = after[caret - 1] if caret else ""
    words = next((text.strip() for text in after[(caret or 0) + 1 :] if text.strip()), "")
    line = places.get(shown) if shown.strip() else None
    message = _ADDRESS.sub("", words or "The kernel can't be compiled.")[:_MAX_MESSAGE]
    column = int(found[2]) + 1 if line else None
    return Diagnostic(Severity.ERROR, message, file if line else "", line, column)
