"""Server-sent events, as the HTML standard defines their stream."""

from dataclasses import field

from kernelbot.protocol.late import dataclass


@dataclass(frozen=True)
class Frame:
    """One event. `id` None: the frame carried none."""

    event: str
    data: str
    id: str | None


@dataclass
class SseParser:
    """Turns bytes, in pieces of any size, into whole frames."""

    _rest: list[bytes] = field(default_factory=list)
    """Pieces of a line that hasn't ended."""
    _lines: list[str] = field(default_factory=list)
    _after_cr: bool = False

    def feed(self, piece: bytes) -> list[Frame]:
        """The frames that `piece` completes. Lines end with LF, CR or CRLF, and with nothing
        else: bytes.splitlines knows just these for bytes, unlike str's."""
        if not piece:
            return []
        if self._after_cr and piece.startswith(b"\n"):
            piece = piece[1:]  # the second half of a CRLF
        self._after_cr = piece.endswith(b"\r")
        if b"\n" not in piece and b"\r" not in piece:
            self._rest.append(piece)  # joined once: a line may come in many pieces
            return []
        lines = b"".join([*self._rest, piece]).splitlines(keepends=True)
        complete = [line for line in lines if line.endswith((b"\n", b"\r"))]
        self._rest = lines[len(complete) :]
        frames = (self._line(line.rstrip(b"\r\n").decode("utf-8", "replace")) for line in complete)
        return [frame for frame in frames if frame is not None]

    def _line(self, line: str) -> Frame | None:
        if line:
            self._lines.append(line)
            return None
        lines, self._lines = self._lines, []
        return _frame(lines)


def _frame(lines: list[str]) -> Frame | None:
    event, data, identity = "message", list[str](), None
    for line in lines:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            data.append(value)
        elif name == "event":
            event = value
        elif name == "id" and "\0" not in value:
            identity = value
    return Frame(event, "\n".join(data), identity) if data else None
