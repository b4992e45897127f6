"""Folders that look like an installed GPU toolkit, with the fake tools in them."""

from pathlib import Path

_HERE = Path(__file__).parent
TORCH = (_HERE / "gpu_torch.py").read_text()
"""For a problem's own `torch.py`."""


def cuda_toolkit(folder: Path, *, restricted: bool = False) -> Path:
    """What CUDA_HOME may name."""
    (folder / "include").mkdir(parents=True)
    (folder / "include" / "cuda.h").touch()
    _install(folder, "ncu")
    if restricted:
        (folder / "bin" / "restricted").touch()
    return folder


def rocm(folder: Path) -> Path:
    """What ROCM_PATH may name."""
    (folder / "amdgcn").mkdir(parents=True)
    _install(folder, "rocprofv3")
    return folder


def _install(folder: Path, tool: str) -> None:
    (folder / "bin").mkdir()
    program = folder / "bin" / tool
    program.write_text("#!/usr/bin/env python3\n" + (_HERE / f"{tool}.py").read_text())
    program.chmod(0o755)
