"""Real Jupyter kernels."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

_LIMIT_S = 120

Run = Callable[[str], list[dict[str, Any]]]
"""Runs a cell, and returns its outputs. Raises `CellExecutionError`."""


@contextmanager
def kernel(folder: Path, environment: dict[str, str]) -> Iterator[Run]:
    """One that has loaded the extension, and works in this folder."""
    notebook = nbformat.v4.new_notebook()
    place = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=_LIMIT_S, resources=place)
    # Jupyter's files are in the folder, as all else is.
    with client.setup_kernel(env=environment | {"IPYTHONDIR": str(folder / "ipython")}):

        def run(source: str) -> list[dict[str, Any]]:
            notebook.cells.append(nbformat.v4.new_code_cell(source))
            client.execute_cell(notebook.cells[-1], len(notebook.cells) - 1)
            return [dict(output) for output in notebook.cells[-1].outputs]

        run("%load_ext kernelbot")
        yield run


def shown(outputs: list[dict[str, Any]]) -> dict[str, str]:
    """What the only output shows, by media type."""
    (output,) = outputs
    assert output["output_type"] == "display_data", output
    return dict(output["data"])
