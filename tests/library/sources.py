"""Sources for the problem of the skeleton, of authors who mean well and of others."""

from dataclasses import replace
from pathlib import Path

from kernelbot.catalog.problem import LoadedProblem, load_problem

RIGHT = """\
import numpy as np
def custom_kernel(data):
    array, factor = data
    return array * np.float32(factor)
"""
WRONG = "def custom_kernel(data):\n    return data[0]\n"
ENDLESS = "def custom_kernel(data):\n    while True:\n        pass\n"
ENDLESS_IMPORT = "while True:\n    pass\n"
TIMED_ENDLESS = RIGHT.replace(
    "    return", "    while len(array) > 10007:\n        pass\n    return"
)
"""Right in its tests; it never returns from a timed call."""
HOSTILE = {
    "hangs": ENDLESS,
    "floods": "def custom_kernel(data):\n    while True:\n        print('x' * 1_000_000)\n",
    "kills": "import os, signal\nos.kill(-1, signal.SIGKILL)\n",
    "kills itself": "import os\ndef custom_kernel(data):\n    os._exit(0)\n",
    "NUL": "def custom_kernel(data):\n    return '\0'\n",
    "empty": "",
    "no kernel": "x = 1\n",
    "raises": "def custom_kernel(data):\n    raise ValueError('no')\n",
}
REFUSED: dict[str, str | bytes | Path | None] = {
    "none": None,
    "10 MB": "#" * 10_000_000,
    "no UTF-8": b"\xff\xfe\x00",
    "surrogates": "x = '\udcff'\n",
    "no file": Path("nowhere.py"),
    "no path": Path("a\0b.py"),
}


def without_baseline(folder: Path) -> LoadedProblem:
    """The problem without a reference or a solution that could be timed."""
    loaded = load_problem(folder)
    spec = loaded.definition.spec
    files = tuple(
        replace(file, text=file.text.replace("ref_kernel", "found_kernel")) for file in spec.files
    )
    bare = replace(loaded.definition, spec=replace(spec, files=files), solutions=())
    return replace(loaded, definition=bare)
