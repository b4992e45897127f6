"""What lives beside the core: packages that bring routes, pages and a service of their own, found
by entry points. No code of the core names one."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter

from kernelbot.domain.entry_points import Group
from kernelbot.store.database import Database


@dataclass(frozen=True)
class Download:
    """A file that everybody may have who sees a submission that was judged."""

    heading: str
    path: str
    """Below the submission's page, where a page of the extension serves it."""
    label: str
    about: str


class Extension(ABC):
    """One package. Never instantiated: a server asks the class."""

    routes: ClassVar[Sequence[APIRouter]] = ()
    """Below `/api/v1`."""
    pages: ClassVar[Sequence[APIRouter]] = ()
    """For browsers."""
    downloads: ClassVar[Sequence[Download]] = ()

    @classmethod
    @abstractmethod
    def service(cls, database: Database) -> object:
        """The extension's use cases, which its routes find by their class:
        `services.extension(Class)`."""


_EXTENSIONS = Group(
    "kernelbot.extensions",
    Extension,  # type: ignore[type-abstract]  # it is compared with, never called
    "extension",
)


def installed() -> tuple[type[Extension], ...]:
    """In the order of their names. Raises `UserError` if one can't be loaded."""
    return tuple(_EXTENSIONS.load(name) for name in _EXTENSIONS.names())
