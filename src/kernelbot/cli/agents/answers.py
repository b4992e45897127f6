"""What tools answer: short, and the same fields each time. Times are in seconds or nanoseconds, as
the names say."""

import base64

from pydantic import BaseModel, Field

from kernelbot.boards.model import NamedBoard, Statement
from kernelbot.cli.score_comparison import limit_lines
from kernelbot.domain.states import SubmissionState
from kernelbot.domain.values import from_fields
from kernelbot.preflight.rendering import short_text
from kernelbot.protocol import Phase, RunResult, Verdict
from kernelbot.ranking.model import ScoreInterval, StandingsPage
from kernelbot.runs.model import RunView
from kernelbot.runs.report import CaseReport, WorkloadReport
from kernelbot.submissions.model import SubmissionView

_KEPT = 4000
"""Characters of a text whose middle is left out; a model reads every one of them."""
_PROFILE_KEPT = 12_000
_SCORED = (Phase.LEADERBOARD, Phase.BENCHMARK)


class Board(BaseModel):
    """A leaderboard."""

    name: str
    problem: str
    devices: list[str]
    deadline: str | None = Field(description="UTC; null: none.")
    ranked_by: str
    about: str = Field(description="What its problem wants, in one sentence; or empty.")
    language: str | None
    difficulty: str | None = Field(description="easy, medium or hard; null: nobody said.")
    tags: list[str]

    @classmethod
    def from_named_board(cls, board: NamedBoard) -> "Board":
        """The API's board."""
        about = board.about
        return cls(
            name=board.name,
            problem=board.problem,
            devices=list(board.devices),
            deadline=board.deadline.isoformat() if board.deadline else None,
            ranked_by=board.ranking_by,
            about=about.sentence if about else "",
            language=about.lang if about else None,
            difficulty=about.difficulty if about else None,
            tags=list(about.tags) if about else [],
        )


class Problem(BaseModel):
    """What is to be solved, and what to begin with."""

    board: str
    statement: str
    language: str
    file_name: str = Field(description="A submission's file name should end like this one.")
    starters: dict[str, str] = Field(description="Complete files to begin with, by language.")

    @classmethod
    def from_statement(cls, problem: Statement) -> "Problem":
        """The API's problem."""
        return cls(
            board=problem.board,
            statement=problem.description,
            language=problem.lang,
            file_name=problem.submission_name,
            starters=problem.templates,
        )


class RunReport(BaseModel):
    """One run. Of a secret run only verdict, score and times are known."""

    device: str
    secret: bool
    verdict: Verdict | None
    score_s: float | None
    interval: ScoreInterval | None = Field(
        default=None, description="Of a ranked score, as the ranking compares it."
    )
    message: str | None = Field(description="Why it wasn't accepted.")
    failed_case: CaseReport | None = None
    passed_cases: int = 0
    timings: list[WorkloadReport] = []
    compiler: str = Field(default="", description="What the compiler printed, shortened.")
    stdout: str = ""
    stderr: str = ""

    @classmethod
    def from_run(cls, run: RunView) -> "RunReport":
        """The API's run."""
        bare = from_fields(cls, run)
        return bare if run.result is None else bare.model_copy(update=_details(run.result))

    @classmethod
    def of_local(cls, result: RunResult) -> "RunReport":
        """What `kernelbot run --json` printed."""
        bare = cls(
            device=result.system.device,
            secret=False,
            verdict=result.verdict,
            score_s=result.score_s,
            message=result.failure.message if result.failure else None,
        )
        return bare.model_copy(update=_details(result))


class SubmissionReport(BaseModel):
    """A submission and how far it is."""

    submission_id: int
    board: str
    mode: str
    state: SubmissionState
    is_over: bool = Field(description="False: call wait_for_submission again.")
    verdict: Verdict | None
    score_s: float | None
    place: int | None
    place_is_shared: bool = Field(description="Others have the same place.")
    queue_position: int | None = Field(description="1 is next.")
    not_ranked: str | None = Field(description="Why its score isn't in the ranking.")
    runs: list[RunReport]
    compilers: list[str] = Field(
        default_factory=list,
        description="For each GPU that it was built for: registers, spills, shared memory and "
        "occupancy of its kernels, in brackets those of its author's version before.",
    )

    limits: list[str] = Field(
        default_factory=list,
        description="What limits its problem on each device, and how much of that was reached.",
    )

    @classmethod
    def from_submission(cls, found: SubmissionView) -> "SubmissionReport":
        """The API's submission."""
        return from_fields(
            cls,
            found,
            submission_id=found.id,
            is_over=is_over(found),
            not_ranked=found.not_ranked.sentence if found.not_ranked else None,
            runs=[RunReport.from_run(run) for run in found.runs],
            compilers=[short_text(one) for one in found.preflights],
            limits=limit_lines(found.comparisons),
        )


class ProfileText(BaseModel):
    """A text that a profiler wrote."""

    device: str
    name: str
    text: str


class Standing(BaseModel):
    """An author's best."""

    rank: int
    shared: bool = Field(description="Others have the same rank: nothing tells them apart.")
    author: str
    score_s: float
    ci95_s: tuple[float, float] | None
    submission_id: int


class Ranking(BaseModel):
    """The best of a ranking."""

    board: str
    device: str
    authors: int = Field(description="How many are ranked in all.")
    standings: list[Standing]

    @classmethod
    def from_page(cls, page: StandingsPage) -> "Ranking":
        """The API's page."""
        rows = [Standing.model_validate(row, from_attributes=True) for row in page.standings]
        return cls(board=page.board, device=page.device, authors=page.total, standings=rows)


def is_over(found: SubmissionView) -> bool:
    """Whether nothing more will happen to it by itself."""
    return found.state not in (SubmissionState.QUEUED, SubmissionState.RUNNING)


def timings(found: SubmissionView) -> dict[tuple[str, str], WorkloadReport]:
    """The timings of the submission's runs, by device and workload. Of a ranked one only the run on
    secret data has any."""
    return {
        (run.device, timing.workload): timing
        for run in found.runs
        if run.result is not None
        for timing in _timings(run.result)
    }


def profiles(found: SubmissionView) -> list[ProfileText]:
    """The texts that its runs left."""
    return [
        ProfileText(
            device=run.device,
            name=artifact.name,
            text=shortened(
                base64.b64decode(artifact.content_base64).decode("utf-8", "replace"), _PROFILE_KEPT
            ),
        )
        for run in found.runs
        if run.result is not None
        for artifact in run.result.artifacts
        if artifact.media_type == "text/plain"
    ]


def shortened(text: str, kept: int = _KEPT) -> str:
    """A text without its middle if it is long."""
    if len(text) <= kept:
        return text
    left_out = len(text) - kept
    return f"{text[: kept // 2]}\n[{left_out} characters left out]\n{text[-kept // 2 :]}"


def _details(result: RunResult) -> dict[str, object]:
    cases = [case for phase in result.phases for case in phase.cases]
    failed = next((case for case in cases if case.verdict is not Verdict.ACCEPTED), None)
    return {
        "failed_case": failed
        and CaseReport(failed.spec, failed.verdict, shortened(failed.message)),
        "passed_cases": sum(case.verdict is Verdict.ACCEPTED for case in cases),
        "timings": _timings(result),
        "compiler": shortened(result.compile.output) if result.compile else "",
        "stdout": shortened(result.stdout),
        "stderr": shortened(result.stderr),
    }


def _timings(result: RunResult) -> list[WorkloadReport]:
    phases = [phase for scored in _SCORED for phase in result.phases if phase.phase is scored]
    return [WorkloadReport.from_result(load) for load in phases[0].workloads] if phases else []
