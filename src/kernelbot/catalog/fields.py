"""Typed access to a map of a definition. What is missing or of a wrong type becomes a finding."""

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeVar

from kernelbot.catalog.document import DocumentItem
from kernelbot.domain.errors import Finding
from kernelbot.protocol.late import dataclass

E = TypeVar("E", bound=StrEnum)


@dataclass
class DefinitionFindings:
    """What was found in one file: errors refuse the definition, warnings don't."""

    file: str
    errors: list[Finding] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)

    def error(self, key: str, line: int | None, message: str, *, file: str | None = None) -> None:
        self.errors.append(Finding(file or self.file, key, line, message))

    def warn(self, key: str, line: int | None, message: str) -> None:
        self.warnings.append(Finding(self.file, key, line, message))


def kind_of(item: DocumentItem) -> str:
    """The kind of the value, for people: `text`, `a whole number`, `a list`, ..."""
    names: dict[type, str] = {
        bool: "true or false",
        int: "a whole number",
        float: "a number",
        str: "text",
        tuple: "a list",
        dict: "a map",
        type(None): "empty",
    }
    return names[type(item.value)]


class Fields:
    """A map being read. Every getter returns its default after recording what is wrong."""

    def __init__(self, item: DocumentItem, path: str, findings: DefinitionFindings) -> None:
        self._path = path
        self._findings = findings
        self._seen: set[str] = set()
        self.line = item.line
        self._items: Mapping[str, DocumentItem] = {}
        if isinstance(item.value, Mapping):
            self._items = item.value
        else:
            findings.error(path, item.line, f"must be a map, is {kind_of(item)}")

    def key(self, name: str) -> str:
        """The path of a key in this map, for findings."""
        return f"{self._path}.{name}" if self._path else name

    def take(self, name: str, *, required: bool = False) -> DocumentItem | None:
        """The value under `name`; None if it is absent or written without a value."""
        self._seen.add(name)
        item = self._items.get(name)
        if item is not None and item.value is not None:
            return item
        if required:
            at = item.line if item else self.line
            self._findings.error(self.key(name), at, "missing" if item is None else "is empty")
        return None

    def wrong(self, name: str, item: DocumentItem, wanted: str) -> None:
        """Record that `item` isn't what `name` accepts."""
        self._findings.error(self.key(name), item.line, f"must be {wanted}, is {kind_of(item)}")

    def text(self, name: str, *, default: str = "", required: bool = False) -> str:
        item = self.take(name, required=required)
        if item is None:
            return default
        if isinstance(item.value, str):
            return item.value
        self.wrong(name, item, "text")
        return default

    def flag(self, name: str) -> bool:
        item = self.take(name)
        if item is None:
            return False
        if isinstance(item.value, bool):
            return item.value
        self.wrong(name, item, "true or false")
        return False

    def seconds(self, name: str, *, default: float, max_s: float) -> float:
        """A positive number of seconds, at most `max_s`."""
        item = self.take(name)
        if item is None:
            return default
        if isinstance(item.value, bool) or not isinstance(item.value, int | float):
            self.wrong(name, item, "a number of seconds")
        elif not 0 < item.value <= max_s:
            self._findings.error(
                self.key(name), item.line, f"must be above 0 and at most {max_s:g} seconds"
            )
        else:
            return float(item.value)
        return default

    def choice(self, name: str, kind: type[E], *, required: bool = False) -> E | None:
        """A member of the enum, or None if it is absent or unknown."""
        item = self.take(name, required=required)
        if item is None:
            return None
        words = [str(word) for word in kind]
        if item.value in words:
            return kind(str(item.value))
        self._findings.error(self.key(name), item.line, f"must be one of {', '.join(words)}")
        return None

    def items(self, name: str, *, required: bool = False) -> tuple[DocumentItem, ...]:
        """The elements of a list; empty if it is absent."""
        item = self.take(name, required=required)
        if item is None:
            return ()
        if isinstance(item.value, tuple):
            return item.value
        self.wrong(name, item, "a list")
        return ()

    def texts(self, name: str) -> tuple[tuple[str, int], ...]:
        """The elements of a list of texts, each with its line."""
        found: list[tuple[str, int]] = []
        for index, item in enumerate(self.items(name)):
            if isinstance(item.value, str) and item.value:
                found.append((item.value, item.line))
            else:
                self.wrong(f"{name}[{index}]", item, "text that isn't empty")
        return tuple(found)

    def mapping(self, name: str, *, required: bool = False) -> "Fields | None":
        item = self.take(name, required=required)
        return None if item is None else Fields(item, self.key(name), self._findings)

    def rest(self) -> Iterator[tuple[str, DocumentItem]]:
        """The pairs that no getter has read, for maps whose keys the author chooses."""
        return ((name, item) for name, item in self._items.items() if name not in self._seen)

    def warn_unknown(self) -> None:
        """Record a warning for every key that no getter has read."""
        for name, item in self.rest():
            self._findings.warn(self.key(name), item.line, "unknown key, ignored")
