"""What a launcher should not have raised: a mistake of its own, which ends no other launcher."""

from structlog.typing import WrappedLogger

from kernelbot.domain.errors import KernelbotError


def is_crash(error: Exception) -> bool:
    """Whether it is none of the failures that launchers may have."""
    return not isinstance(error, (KernelbotError, OSError))


class Crashes:
    """Logs the crashes of one launcher, which is asked the same again and again: each crash once in
    a row, with its traceback."""

    def __init__(self, launcher: str, log: WrappedLogger) -> None:
        self._launcher = launcher
        self._log = log
        self._last = ""

    def tell(self, error: Exception) -> str:
        """Why the launcher failed, in words. Logs what is no failure that launchers may have."""
        if not is_crash(error):
            return str(error)
        words = f"its launcher failed: {type(error).__name__}: {error}"
        if words != self._last:
            self._log.error("launcher_crashed", launcher=self._launcher, exc_info=error)
            self._last = words
        return words

    def end(self) -> None:
        """The launcher has answered: the next crash is another one."""
        self._last = ""
