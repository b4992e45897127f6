"""YAML text as a tree in which every value knows its line; hostile text becomes a finding."""

import math
from collections.abc import Mapping
from typing import cast

import yaml
from yaml.constructor import SafeConstructor

from kernelbot.domain.bounds import storable
from kernelbot.domain.errors import Finding
from kernelbot.protocol.late import dataclass

MAX_TEXT_BYTES = 256 << 10
MAX_NODES = 30_000
MAX_DEPTH = 16
MAX_NUMBER_CHARACTERS = 1000
"""Python won't write out numbers of some thousand digits, and those to the base 60 take minutes."""
MERGE_TAG = "tag:yaml.org,2002:merge"

Scalar = int | float | str | bool | None


@dataclass(frozen=True)
class DocumentItem:
    """A value and the 1-based line on which it stands."""

    value: "Scalar | tuple[DocumentItem, ...] | Mapping[str, DocumentItem]"
    line: int


class _UnreadableText(Exception):
    """The text can't be read as a tree; carries the sentence and the line."""

    def __init__(self, message: str, line: int | None) -> None:
        super().__init__(message)
        self.line = line


class _BoundedLoader(yaml.SafeLoader):
    """Composes nodes with limits on their number and depth.

    The C loader is not used: it overruns its stack on deeply nested text.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        event = self.peek_event()  # type: ignore[no-untyped-call]  # the stubs leave it out
        line = event.start_mark.line + 1
        if self._nodes > MAX_NODES:
            raise _UnreadableText(f"more than {MAX_NODES} values; write fewer cases", line)
        if self._depth > MAX_DEPTH:
            raise _UnreadableText(f"nested more than {MAX_DEPTH} deep", line)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def parse(
    text: str, file: str, *, dates_as_text: bool = False
) -> tuple[DocumentItem | None, tuple[Finding, ...]]:
    """The tree of `text`, or None, with all that is wrong in it. `file` names it in findings.

    `dates_as_text`: a bare date stays the text as written. Never raises for bad text. Duplicate
    keys, keys that aren't text, values that YAML knows but we don't (dates, binary, sets, tags)
    and NaN or infinite numbers are findings.
    """
    try:
        root = _compose(text)
    except _UnreadableText as refused:
        return None, (Finding(file, "", refused.line, str(refused)),)
    if root is None:
        return None, (Finding(file, "", None, "the file is empty"),)
    builder = _Builder(file, dates_as_text=dates_as_text)
    try:
        item = builder.build(root, "", 0)
    except _UnreadableText as refused:
        return None, (*builder.findings, Finding(file, "", refused.line, str(refused)))
    return item, tuple(builder.findings)


def _compose(text: str) -> yaml.Node | None:
    if len(text.encode(errors="surrogatepass")) > MAX_TEXT_BYTES:
        raise _UnreadableText(f"larger than {MAX_TEXT_BYTES >> 10} KiB; write fewer cases", None)
    try:
        loader = _BoundedLoader(text)
        return loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = error.problem or error.context or "not YAML"
        raise _UnreadableText(f"not valid YAML: {what}", mark.line + 1 if mark else None) from error
    except yaml.reader.ReaderError as error:
        raise _UnreadableText(
            f"not valid YAML: the character {error.character:#04x} isn't allowed",
            text.count("\n", 0, error.position) + 1,
        ) from error
    except yaml.YAMLError as error:
        raise _UnreadableText(f"not valid YAML: {str(error).splitlines()[0]}", None) from error


class _Builder:
    """Turns nodes into items. Counts what it builds, because aliases share nodes."""

    def __init__(self, file: str, *, dates_as_text: bool) -> None:
        self.findings: list[Finding] = []
        self._file = file
        self._built = 0
        self._scalars = SafeConstructor()
        self._dates_as_text = dates_as_text

    def build(self, node: yaml.Node, key: str, depth: int) -> DocumentItem:
        line = node.start_mark.line + 1
        self._built += 1
        if self._built > MAX_NODES or depth > MAX_DEPTH:
            raise _UnreadableText(
                "its aliases expand to more values than a definition may hold", line
            )
        if isinstance(node, yaml.MappingNode):
            return DocumentItem(self._mapping(node, key, depth), line)
        if isinstance(node, yaml.SequenceNode):
            items = (
                self.build(child, f"{key}[{index}]", depth + 1)
                for index, child in enumerate(node.value)
            )
            return DocumentItem(tuple(items), line)
        return DocumentItem(self._scalar(node, key, line), line)

    def _mapping(self, node: yaml.MappingNode, key: str, depth: int) -> Mapping[str, DocumentItem]:
        own: dict[str, DocumentItem] = {}
        merged: dict[str, DocumentItem] = {}
        for name_node, value_node in node.value:
            line = name_node.start_mark.line + 1
            if name_node.tag == MERGE_TAG:
                merged.update(self._merge(value_node, key, depth))
                continue
            if not isinstance(name_node, yaml.ScalarNode) or not name_node.tag.endswith(":str"):
                self._add(key, line, "a key must be text; put it in quotes")
                continue
            name = str(name_node.value)
            if not self._is_storable(name, key, line):
                continue
            path = f"{key}.{name}" if key else name
            if name in own:
                self._add(path, line, f"written twice, first on line {own[name].line}")
                continue
            own[name] = self.build(value_node, path, depth + 1)
        return {**merged, **own}

    def _merge(self, node: yaml.Node, key: str, depth: int) -> dict[str, DocumentItem]:
        """What `<<: *anchor` (or a list of them, the first winning) adds."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, DocumentItem] = {}
        for part in reversed(parts):
            item = self.build(part, key, depth + 1)
            if isinstance(item.value, Mapping):
                merged.update(item.value)
            else:
                self._add(key, item.line, "`<<` needs a map")
        return merged

    def _scalar(self, node: yaml.Node, key: str, line: int) -> Scalar:
        kind = node.tag.rpartition(":")[2]
        if kind == "timestamp" and self._dates_as_text:
            return str(node.value)
        if kind not in ("str", "int", "float", "bool", "null"):
            self._add(key, line, f"a value of the kind `{kind}` isn't allowed; put it in quotes")
            return str(node.value)
        if kind != "str" and len(node.value) > MAX_NUMBER_CHARACTERS:
            self._add(key, line, f"`{_short(node.value)}` is too long for a number")
            return None
        if kind == "str":
            self._is_storable(node.value, key, line)
        try:
            value = cast("Scalar", self._scalars.construct_object(node))
        except (ValueError, LookupError, yaml.YAMLError):
            self._add(key, line, f"`{_short(node.value)}` can't be read as {kind}")
            return None
        if isinstance(value, float) and not math.isfinite(value):
            self._add(key, line, "must be a finite number")
            return 0.0
        return value

    def _is_storable(self, text: str, key: str, line: int) -> bool:
        """Whether it can be sent and kept: escapes name characters that no file in UTF-8 holds."""
        try:
            storable(text)
        except ValueError as error:
            self._add(key, line, str(error))
            return False
        return True

    def _add(self, key: str, line: int, message: str) -> None:
        self.findings.append(Finding(self._file, key, line, message))


def _short(text: object) -> str:
    return str(text)[:40]
