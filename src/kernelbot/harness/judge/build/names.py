"""Kernels' names as their authors wrote them."""

from collections.abc import Iterable

from kernelbot.harness.sandbox import CommandNotStarted, RunnerClient, run_command

_TIMEOUT_S = 10


def demangled(
    kernels: Iterable[dict[str, str]], client: RunnerClient
) -> tuple[dict[str, str], ...]:
    """The rows with their `name` demangled, as far as the system can. Raises
    `SandboxUnavailable`."""
    found = tuple(kernels)
    if not found:
        return ()
    symbols = [kernel["name"] for kernel in found]
    try:
        result = run_command(client, ["c++filt", *symbols], timeout_s=_TIMEOUT_S)
    except CommandNotStarted:
        return found
    names = result.stdout.splitlines()
    if len(names) != len(found):
        return found
    return tuple({**kernel, "name": name} for kernel, name in zip(found, names, strict=True))
