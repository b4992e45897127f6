"""What `popcorn-cli` (up to 1.3.23) does on the wire, as a client that tests can drive.

It sends what that client sends (its headers and no others, a multipart part without a content
type, names without percent-encoding, no redirects followed), waits as it waits (time-outs for a
whole request, polls every five seconds, one failed poll ends it) and reads answers with that
client's parsers: as lenient where it is lenient, as strict where it is strict. What it would print
and then exit 1 is a `ClientFailure` here.
"""

import base64
import json
import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import httpx

POLL_INTERVAL_S = 5.0
POLL_TIMEOUT_S = 3600.0
LIMITS_S = {"default": 180.0, "read": 30.0, "gpus": 120.0, "submit": 60.0, "stream": 3600.0}
ADMIN_LIMITS_S = {"default": 30.0, "sync": 120.0}
FAILED_STATUSES = ("failed", "timed_out", "hacked")

Json = Any
Log = Callable[[str], None]


class ClientFailure(Exception):
    """The client prints this and exits 1. `status` is the HTTP status, None where it isn't one."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Upload:
    """A file to submit."""

    name: str
    content: bytes


@dataclass
class Transcript:
    """What a submission showed its author."""

    lines: list[str] = field(default_factory=list)
    traces: list[bytes] = field(default_factory=list)
    """The archives that a profile run saved to the current folder."""

    def log(self, line: str) -> None:
        """One line on the terminal."""
        self.lines.append(line)

    @property
    def text(self) -> str:
        """Everything shown."""
        return "\n".join(self.lines)


@dataclass(frozen=True)
class Submitted:
    """How a submission in the background ended."""

    id: int
    summary: str
    """The lines `Geomean score ...`; empty for modes that aren't ranked."""
    details: Json


class Wire:
    """HTTP as that client's library speaks it."""

    def __init__(self, base_url: str, headers: dict[str, str]) -> None:
        self.base_url = base_url
        self._http = httpx.Client(follow_redirects=False, trust_env=False, timeout=60)
        # Its library sends these two headers and none that the caller doesn't name.
        self._http.headers = httpx.Headers({"Accept": "*/*", **headers})

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(
        self,
        method: str,
        path: str,
        *,
        limit_s: float,
        body: bytes | None = None,
        content_type: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx.Response:
        """One request, answered in full within `limit_s` or `ClientFailure`."""
        sent = dict(headers or {})
        if content_type:
            sent["Content-Type"] = content_type
        began_s = time.monotonic()
        try:
            answer = self._http.request(
                method, self.base_url + path, content=body, headers=sent, timeout=limit_s
            )
        except httpx.HTTPError as error:
            raise ClientFailure(f"error sending request: {error!r}") from None
        if time.monotonic() - began_s > limit_s:
            raise ClientFailure(f"operation timed out: {method} {path} took over {limit_s} s")
        return answer

    def stream(self, path: str, body: bytes, content_type: str, limit_s: float) -> Any:
        """A POST whose answer is read as it comes: a context manager."""
        return self._http.stream(
            "POST",
            self.base_url + path,
            content=body,
            headers={"Content-Type": content_type},
            timeout=limit_s,
        )


def multipart(upload: Upload) -> tuple[bytes, str]:
    """Body and content type of a form with the one part `file`, which has a name and no type."""
    boundary = "-".join(secrets.token_hex(8) for _ in range(4))
    name = upload.name
    for character, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\\r"), ("\n", "\\\n")):
        name = name.replace(character, escaped)
    head = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    ).encode()
    body = head + upload.content + f"\r\n--{boundary}--\r\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"


def detail_of(answer: httpx.Response) -> str:
    """What the client prints of an error: `detail` if it is a string, else the raw body."""
    try:
        body = answer.json()
    except ValueError:
        return answer.text
    detail = body.get("detail") if isinstance(body, dict) else None
    return detail if isinstance(detail, str) else answer.text


def checked(answer: httpx.Response) -> httpx.Response:
    """The answer if it is a 2xx."""
    if not answer.is_success:
        message = f"Server returned status {answer.status_code}: {detail_of(answer)}"
        raise ClientFailure(message, answer.status_code)
    return answer


def parsed(answer: httpx.Response) -> Json:
    """The JSON of a 2xx."""
    try:
        return checked(answer).json()
    except ValueError as error:
        raise ClientFailure(f"Failed to parse response: {error}") from None


def parse_score(value: Json) -> float | None:
    """A number, or a string that holds one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None


def queue_summary(queue: Json) -> str | None:
    """`Local CPU queue: 2 queued jobs`; None where the server doesn't count."""
    if not isinstance(queue, dict):
        return None
    queued = queue.get("queued_jobs")
    if isinstance(queued, bool) or not isinstance(queued, int):
        return None
    runner = queue.get("runner") or "Runner"
    gpu = queue.get("gpu") or "selected GPU"
    return f"{runner} {gpu} queue: {queued} queued {'job' if queued == 1 else 'jobs'}"


def score_summary(details: Json) -> str:
    """One line for each scored run of the mode `leaderboard`."""
    lines = []
    for run in details.get("runs") or []:
        score = parse_score(run.get("score"))
        if run.get("mode") == "leaderboard" and score is not None:
            scope = "secret" if run.get("secret") is True else "public"
            lines.append(f"Geomean score ({scope}) on {run.get('runner') or ''}: {score} s")
    return "\n".join(lines)


def frames(chunks: Iterator[bytes]) -> Iterator[tuple[str, str]]:
    """Event and data of each frame. Frames end with an empty line of plain newlines; of several
    `data:` lines only the last counts; frames without both are passed over."""
    buffer = ""
    for chunk in chunks:
        buffer += chunk.decode(errors="replace")
        while "\n\n" in buffer:
            message, buffer = buffer.split("\n\n", 1)
            event = data = None
            for line in message.split("\n"):
                if line.startswith("event:"):
                    event = line.removeprefix("event:").strip()
                elif line.startswith("data:"):
                    data = line.removeprefix("data:").strip()
            if event is not None and data is not None:
                yield event, data


class PopcornCli:
    """The client of one author. `cli_id` is what stands in `~/.popcorn.yaml`."""

    def __init__(
        self, base_url: str, cli_id: str | None, *, poll_interval_s: float = POLL_INTERVAL_S
    ) -> None:
        self.wire = Wire(base_url, {} if cli_id is None else {"X-Popcorn-Cli-Id": cli_id})
        self._poll_interval_s = poll_interval_s

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def _read(self, path: str, limit_s: float = LIMITS_S["read"]) -> Json:
        return parsed(self.wire.send("GET", path, limit_s=limit_s))

    def auth_init(self, provider: str) -> str:
        """`register`: the state, which the client keeps as its token."""
        path = f"/auth/init?provider={provider}"
        answer = self.wire.send("GET", path, limit_s=LIMITS_S["default"])
        if not answer.is_success:
            message = f"Failed to initialize auth ({answer.status_code}): {answer.text}"
            raise ClientFailure(message, answer.status_code)
        state = parsed(answer)["state"]
        if not isinstance(state, str):
            raise ClientFailure("Failed to parse response: state is not a string")
        return state

    def leaderboards(self) -> list[tuple[str, str]]:
        """Name and description of each board. One item of another shape fails all."""
        items = self._read("/leaderboards")
        for item in items:
            shapes = (("task", dict), ("name", str), ("description", str))
            if not all(isinstance(item.get(key), kind) for key, kind in shapes):
                raise ClientFailure("Invalid JSON structure")
        return [(item["name"], item["description"]) for item in items]

    def gpus(self, leaderboard: str) -> list[str]:
        """Devices of a board: an array of strings and nothing else."""
        found = self._read(f"/gpus/{leaderboard}", LIMITS_S["gpus"])
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise ClientFailure("error decoding response body")
        return found

    def submissions(self, leaderboard: str | None = None, limit: int | None = None) -> list[Json]:
        """`submissions list`."""
        given = {"leaderboard": leaderboard, "limit": limit}
        query = "&".join(f"{key}={value}" for key, value in given.items() if value is not None)
        found = self._read("/user/submissions" + (f"?{query}" if query else ""))
        if not isinstance(found, list):
            raise ClientFailure("error decoding response body")
        return found

    def submission(self, submission_id: int) -> Json:
        """`submissions show`, and each poll."""
        return self._read(f"/user/submissions/{submission_id}")

    def delete(self, submission_id: int) -> Json:
        """`submissions delete`."""
        path = f"/user/submissions/{submission_id}"
        return parsed(self.wire.send("DELETE", path, limit_s=LIMITS_S["read"]))

    def join(self, code: str) -> Json:
        """`join CODE`."""
        body = json.dumps({"code": code}).encode()
        return parsed(
            self.wire.send(
                "POST",
                "/user/join",
                limit_s=LIMITS_S["read"],
                body=body,
                content_type="application/json",
            )
        )

    def submit(
        self, upload: Upload, leaderboard: str, gpu: str, mode: str, log: Log = lambda _: None
    ) -> Submitted:
        """`submit` in every mode but `profile`: accepted, then polled until it is done."""
        accepted = self.accept(upload, leaderboard, gpu, mode)
        submission_id = accepted["details"]["id"]
        queue = queue_summary(accepted.get("runner_queue"))
        place = f"{queue}. " if queue else ""
        log(f"Submission {submission_id} accepted. {place}Waiting for results...")
        return self.wait(submission_id, log)

    def accept(self, upload: Upload, leaderboard: str, gpu: str, mode: str) -> Json:
        """The first step of `submit`: what the server said when it took the file."""
        body, content_type = multipart(upload)
        answer = self.wire.send(
            "POST",
            f"/submission/{leaderboard.lower()}/{gpu}/{mode.lower()}",
            limit_s=LIMITS_S["submit"],
            body=body,
            content_type=content_type,
        )
        accepted = parsed(answer)
        submission_id = (accepted.get("details") or {}).get("id")
        if isinstance(submission_id, bool) or not isinstance(submission_id, int):
            raise ClientFailure("Server did not return a submission id")
        return accepted

    def wait(self, submission_id: int, log: Log = lambda _: None) -> Submitted:
        """Poll at once, then at every interval, until the submission is done or has failed."""
        elapsed_s = 0.0
        while True:
            details = self.submission(submission_id)
            done = details.get("done") is True
            job = details.get("job") or {}
            status = job.get("status") or ("done" if done else "pending")
            queue = queue_summary(details.get("runner_queue"))
            place = f" - {queue}" if queue else ""
            log(f"Submission {submission_id} status: {status}{place} ({elapsed_s:g}s)")
            if status in FAILED_STATUSES:
                error = job.get("error") or "No error details were provided"
                raise ClientFailure(f"Submission {submission_id} {status}: {error}")
            if done:
                return Submitted(submission_id, score_summary(details), details)
            if elapsed_s >= POLL_TIMEOUT_S:
                raise ClientFailure(f"Timed out waiting for submission {submission_id}")
            time.sleep(self._poll_interval_s)
            elapsed_s += self._poll_interval_s

    def submit_streaming(
        self, upload: Upload, leaderboard: str, gpu: str, mode: str, shown: Transcript
    ) -> Json:
        """`submit --mode profile`, and every mode of clients up to 1.3.15: the reports."""
        body, content_type = multipart(upload)
        path = f"/{leaderboard.lower()}/{gpu}/{mode.lower()}"
        with self.wire.stream(path, body, content_type, LIMITS_S["stream"]) as answer:
            if not answer.is_success:
                answer.read()
            checked(answer)
            if not answer.headers.get("content-type", "").startswith("text/event-stream"):
                answer.read()
                results = answer.json().get("results")
                if results is None:
                    raise ClientFailure("Invalid non-streaming response structure")
                return results
            return self._follow(frames(answer.iter_raw()), mode.lower(), shown)

    def _follow(self, events: Iterator[tuple[str, str]], mode: str, shown: Transcript) -> Json:
        for event, data in events:
            if event == "status":
                message = json.loads(data).get("message")
                shown.log(message if isinstance(message, str) else data)
            elif event == "result":
                result = json.loads(data)
                show_result(result, mode, shown)
                return result.get("reports", result)
            elif event == "error":
                raise ClientFailure(_stream_error(json.loads(data)))
            else:
                shown.log(f"Ignoring unknown SSE event: {event}")
        raise ClientFailure("Stream ended unexpectedly without a final result or error event.")


def _stream_error(body: Json) -> str:
    message = f"Server processing error: {body.get('detail') or 'Unknown server error'}"
    if isinstance(body.get("status_code"), int):
        message += f" (Status Code: {body['status_code']})"
    if isinstance(body.get("raw_error"), str):
        message += f" | Raw Error: {body['raw_error']}"
    return message


def show_result(result: Json, mode: str, shown: Transcript) -> None:
    """What the client prints of a `result` event: each run's outputs, or each profile."""
    for number, item in enumerate(result.get("results") or [], start=1):
        runs = item.get("runs")
        if not isinstance(runs, dict):
            continue
        if mode == "profile":
            for key, run in runs.items():
                if key.startswith("profile"):
                    show_profile(run, shown)
            continue
        output = (runs.get(mode) or {}).get("run") or {}
        for stream in ("stdout", "stderr"):
            if isinstance(output.get(stream), str) and output[stream]:
                shown.log(f"{stream.upper()} (Run {number}):\n{output[stream]}")


def show_profile(run: Json, shown: Transcript) -> None:
    """One profile run: reports are base64 text, the trace is a base64 archive. Without a
    `profile` key nothing is shown at all."""
    if "profile" not in run:
        return
    profile = run["profile"] or {}
    shown.log(f"=== Profiler: {profile.get('profiler') or 'Unknown'} ===")
    output = run.get("run") or {}
    for stream in ("stdout", "stderr"):
        if isinstance(output.get(stream), str) and output[stream]:
            shown.log(f"{stream.upper()}:\n{output[stream]}")
    result = output.get("result")
    values = result if isinstance(result, dict) else {}
    count = values.get("benchmark-count")
    # Only an integer counts: the string "1" is read as none.
    for index in range(count if isinstance(count, int) else 0):
        shown.log(f"Benchmark: {values.get(f'benchmark.{index}.spec') or 'unknown'}")
        report = values.get(f"benchmark.{index}.report")
        if isinstance(report, str):
            shown.log(base64.b64decode(report, validate=True).decode())
    if isinstance(profile.get("trace"), str) and profile["trace"]:
        shown.traces.append(base64.b64decode(profile["trace"], validate=True))
    if isinstance(profile.get("download_url"), str) and profile["download_url"]:
        shown.log(f"Download full profile: {profile['download_url']}")


class PopcornAdmin:
    """`popcorn admin ...`: the organiser's token and nothing else."""

    def __init__(self, base_url: str, token: str | None) -> None:
        self.wire = Wire(base_url, {} if token is None else {"Authorization": f"Bearer {token}"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wire.close()

    def call(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        limit_s: float = ADMIN_LIMITS_S["default"],
    ) -> Json:
        """One call under `/admin`; a body is sent as JSON."""
        # Without a body the client still names its length.
        headers = {"Content-Length": "0"} if method == "POST" and body is None else {}
        answer = self.wire.send(
            method,
            f"/admin{path}",
            limit_s=limit_s,
            body=None if body is None else json.dumps(body).encode(),
            content_type=None if body is None else "application/json",
            headers=headers,
        )
        return parsed(answer)
