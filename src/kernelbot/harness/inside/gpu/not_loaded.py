"""What an author's file gets in place of an extension that was compiled and isn't loaded."""

import types
from typing import Any


class NotLoaded(types.ModuleType):
    """Has every function that it is asked for; a call of one raises RuntimeError."""

    def __init__(self, name: str, arch: str) -> None:
        super().__init__(name)
        self.__dict__["_arch"] = arch

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def call(*_arguments: object, **_options: object) -> None:
            raise RuntimeError(
                f"{self.__name__}.{name} was compiled for {self._arch}, which isn't here to run it."
            )

        return call
