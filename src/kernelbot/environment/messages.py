"""What sessions exchange: OpenEnv's actions, observations and states, with our fields in them."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from kernelbot.domain.bounds import storable
from kernelbot.environment.tasks import Split
from kernelbot.protocol import Fault, Lang, Verdict
from kernelbot.runs.report import CaseReport, WorkloadReport

MAX_SEED = (1 << 63) - 1
MAX_ID = 255
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]
EpisodeId = Annotated[str, Field(min_length=1, max_length=MAX_ID), AfterValidator(storable)]


class SourceKind(StrEnum):
    """What an action's text is."""

    SOURCE = "source"
    DIFF = "diff"


class Action(BaseModel):
    """One attempt. Only `source` is required, so that a client may send a bare text."""

    # By the title `Action` clients know environments that have tools instead.
    model_config = ConfigDict(frozen=True, extra="forbid", title="SourceAction")

    source: str = Field(
        description="A whole program; or, if `kind` is `diff`, a unified diff against the last "
        "program of the episode, which is empty at first."
    )
    kind: SourceKind = SourceKind.SOURCE
    is_last: bool = Field(
        default=False, description="Ends the episode with this attempt, whatever is left."
    )
    metadata: dict[str, Any] = Field(default_factory=dict, description="Not read.")


class EnvironmentMessage(BaseModel):
    """Base of what the server sends."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TaskSummary(EnvironmentMessage):
    """Which task this is."""

    id: str
    split: Split
    index: int
    problem: str
    language: Lang
    file_name: str


class TaskView(TaskSummary):
    """A task as it is given."""

    statement: str
    starters: dict[str, str] = Field(description="Programs to begin with, by language.")


class ReportData(EnvironmentMessage):
    """The report on one attempt, with its texts shortened."""

    verdict: Verdict
    fault: Fault | None = Field(description="Whose fault it is; null: it was accepted.")
    message: str
    evidence: str = Field(description="What was seen of the failure, such as a traceback.")
    tests: list[CaseReport]
    tests_total: int
    workloads: list[WorkloadReport]
    score_s: float | None
    score_ci95_s: tuple[float, float] | None
    baseline_s: float | None = Field(description="The reference's score.")
    speed_ci95: tuple[float, float] | None = Field(
        description="How many times as fast as the reference it is."
    )
    suspicions: list[str]
    compiler: str
    stdout: str
    stderr: str


class Best(EnvironmentMessage):
    """The attempt with the highest reward until now."""

    attempt: int
    reward: float
    score_s: float | None


class HeldOutReport(EnvironmentMessage):
    """How the best source did on what no observation shows, at the end of an episode."""

    verdict: Verdict
    reward: float | None = Field(description="Null: it couldn't be judged, by nobody's fault.")


class Observation(EnvironmentMessage):
    """What follows a reset or an action."""

    text: str = Field(description="For people and models: the task, or the report.")
    task: TaskSummary
    attempt: int = Field(description="How many attempts are used up.")
    attempts_left: int
    refusal: str = Field(
        default="", description="Why an attempt wasn't judged: its source can't be read or applied."
    )
    report: ReportData | None = None
    best: Best | None = None
    held_out: HeldOutReport | None = None
    done: bool = False
    reward: float | None = Field(
        default=None, description="Null after a reset, and if an attempt couldn't be judged."
    )
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="The episode's `episode_id` and `seed`."
    )

    def enveloped(self) -> dict[str, Any]:
        """OpenEnv's form: reward and end beside the other fields."""
        fields = self.model_dump(mode="json", exclude={"reward", "done"})
        return {
            "observation": fields,
            "reward": self.reward,
            "done": self.done,
            "metadata": fields["metadata"],
        }


class State(EnvironmentMessage):
    """How far an episode is."""

    episode_id: str | None = Field(default=None, description="Null: none has begun.")
    step_count: int = Field(
        default=0, description="How many actions were answered, also those that used up no attempt."
    )
    task: TaskSummary | None = None
    seed: int | None = None
    attempts_left: int | None = None
    best: Best | None = None
    unconfirmed: float = Field(
        default=0.0, description="What it was paid that its end may take back."
    )
    done: bool = False


class ResetRequest(BaseModel):
    """How an episode begins. Unknown keys are passed over, as OpenEnv's servers do."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    seed: Seed | None = Field(
        default=None, description="Decides its data, and its task if none is named. Null: drawn."
    )
    episode_id: EpisodeId | None = Field(default=None, description="Null: drawn.")
    split: str | None = Field(default=None, description="Null: the first that has tasks.")
    index: int | None = Field(default=None, description="In the split. Null: drawn by the seed.")
    task: str | None = Field(default=None, description="A task's id, instead of split and index.")


class StepRequest(BaseModel):
    """An action over HTTP."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    action: Action
    episode_id: EpisodeId = Field(description="As `/reset` answered it.")
    timeout_s: float | None = Field(
        default=None, gt=0, allow_inf_nan=False, description="Judging longer is cancelled."
    )


class Envelope(EnvironmentMessage):
    """An observation on the wire."""

    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    metadata: dict[str, Any] | None = None
