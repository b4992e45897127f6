"""Whose fault each end of a Job is, and what it waits for."""

import json
from typing import Any

import pytest

from kernelbot.launchers.base import JobState
from kernelbot.launchers.kubernetes.answers import KubernetesJob, Pod
from kernelbot.launchers.kubernetes.states import LoggedResult, Wait, see
from kernelbot.protocol import Fault

UID = "6fd6bd9c-1b1e-4f4e-9bd5-2f0b8e9b0f5e"
SUM = "0123456789abcdef" * 4


def job(**changes: Any) -> KubernetesJob:
    return KubernetesJob.model_validate_json(
        json.dumps({"metadata": {"name": "kernelbot-1", "uid": UID}, **changes})
    )


def pod(name: str = "kernelbot-1-abcde", **status: Any) -> Pod:
    meta = {"name": name, "uid": name, "creationTimestamp": status.pop("created", "2026-11-01")}
    if deleted := status.pop("deleted", None):
        meta["deletionTimestamp"] = deleted
    spec = {"nodeName": "gpu-node-1"}
    return Pod.model_validate_json(json.dumps({"metadata": meta, "spec": spec, "status": status}))


def container(**terminated: Any) -> list[dict[str, Any]]:
    return [{"name": "judge", "state": {"terminated": {"exitCode": 1, **terminated}}}]


def ended(how: str, reason: str, message: str = "") -> KubernetesJob:
    condition = {"type": how, "status": "True", "reason": reason, "message": message}
    return job(status={"conditions": [condition]})


@pytest.mark.parametrize(
    ("status", "fault", "said"),
    [
        ({"reason": "Evicted", "message": "low on memory"}, Fault.SCHEDULER, "evicted its pod"),
        ({"reason": "DeadlineExceeded"}, Fault.PLATFORM, "longer than all limits together"),
        (
            {
                "reason": "DeadlineExceeded",
                "containerStatuses": [
                    {"name": "judge", "state": {"waiting": {"reason": "ContainerCreating"}}}
                ],
            },
            Fault.PLATFORM,
            "hadn't begun within its pod's deadline: ContainerCreating on node 'gpu-node-1'",
        ),
        ({"reason": "NodeLost"}, Fault.SCHEDULER, "its node is lost"),
        ({"reason": "Terminated"}, Fault.SCHEDULER, "shut down"),
        ({"reason": "UnexpectedAdmissionError"}, Fault.SCHEDULER, "couldn't give it"),
        ({"containerStatuses": container(reason="OOMKilled")}, Fault.PLATFORM, "more memory"),
        ({"containerStatuses": container(reason="StartError")}, Fault.PLATFORM, "can't be started"),
        (
            {"containerStatuses": container(reason="ContainerStatusUnknown", exitCode=137)},
            Fault.SCHEDULER,
            "lost its container",
        ),
        (
            {"containerStatuses": container(message="exit code 9: Traceback")},
            Fault.PLATFORM,
            "without a result on node 'gpu-node-1': exit code 9: Traceback",
        ),
        ({"containerStatuses": container(exitCode=137)}, Fault.PLATFORM, "exit code 137"),
        (
            {
                "conditions": [
                    {"type": "DisruptionTarget", "status": "True", "message": "drained"}
                ],
                "containerStatuses": container(exitCode=137),
            },
            Fault.SCHEDULER,
            "the cluster ended its pod on node 'gpu-node-1': drained",
        ),
        (
            {
                "initContainerStatuses": [
                    {"name": "deliver", "state": {"terminated": {"exitCode": 2}}}
                ]
            },
            Fault.PLATFORM,
            "couldn't be delivered on node 'gpu-node-1': exit code 2",
        ),
        ({"message": "Pod was rejected"}, Fault.SCHEDULER, "its pod is Failed on node"),
    ],
)
def test_whose_fault_the_end_of_a_pod_is(status: dict[str, Any], fault: Fault, said: str) -> None:
    outcome = see(job(), [pod(phase="Failed", **status)]).outcome
    assert outcome is not None
    assert (JobState.LOST, fault) == (outcome.state, outcome.fault)
    assert said in outcome.reason


@pytest.mark.parametrize(
    ("seen", "fault", "said"),
    [
        (ended("Failed", "DeadlineExceeded"), Fault.SCHEDULER, "no node had judged it"),
        (ended("Failed", "BackoffLimitExceeded"), Fault.SCHEDULER, "its pod was deleted"),
        (ended("Complete", "CompletionsReached"), Fault.SCHEDULER, "its result with it"),
        (ended("Failed", "Novelty", "as it\npleased"), Fault.SCHEDULER, "Failed: as it pleased"),
    ],
)
def test_whose_fault_the_end_of_a_job_without_a_pod_is(
    seen: KubernetesJob, fault: Fault, said: str
) -> None:
    found = see(seen, [])
    assert found.outcome is not None
    assert (JobState.LOST, fault, True) == (found.outcome.state, found.outcome.fault, found.settles)
    assert said in found.outcome.reason


@pytest.mark.parametrize(
    ("seen", "pods", "wait", "why"),
    [
        (job(), [], Wait.POD, ""),
        (job(spec={"suspend": True}), [], Wait.QUEUE, "its queue hasn't admitted it"),
        (
            job(),
            [
                pod(
                    phase="Pending",
                    conditions=[
                        {"type": "PodScheduled", "status": "False", "message": "0/3 nodes\nfit"}
                    ],
                )
            ],
            Wait.NODE,
            "no node takes its pod: 0/3 nodes fit",
        ),
        (
            job(),
            [
                pod(
                    phase="Pending",
                    containerStatuses=[
                        {"name": "judge", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
                    ],
                )
            ],
            Wait.CONTAINER,
            "its container can't begin: ImagePullBackOff",
        ),
        (
            job(),
            [
                pod(
                    phase="Pending",
                    containerStatuses=[
                        {"name": "judge", "state": {"waiting": {"reason": "PodInitializing"}}}
                    ],
                )
            ],
            None,
            "",
        ),
    ],
)
def test_what_a_job_waits_for(
    seen: KubernetesJob, pods: list[Pod], wait: Wait | None, why: str
) -> None:
    found = see(seen, pods)
    assert found.outcome is not None
    assert (JobState.WAITING, wait, why) == (found.outcome.state, found.wait, found.why)


@pytest.mark.parametrize("phase", ["Running", "Unknown", "EXPEDITING", ""])
def test_a_phase_that_nobody_knows_is_no_end(phase: str) -> None:
    outcome = see(job(), [pod(phase=phase)]).outcome
    assert outcome is not None
    assert JobState.RUNNING == outcome.state


def test_a_result_is_there_before_the_job_knows_that_it_is_complete() -> None:
    done = container(exitCode=0, message=f"result 123 {SUM}")
    found = see(job(), [pod(phase="Running", containerStatuses=done)])
    assert (None, LoggedResult("kernelbot-1-abcde", 123, SUM)) == (found.outcome, found.made)


@pytest.mark.parametrize(
    "message", ["", "result", f"result -1 {SUM}", f"result 123 {SUM}\nmore", "result 1 0123"]
)
def test_an_end_that_names_no_result_has_none(message: str) -> None:
    done = container(exitCode=0, message=message)
    outcome = see(job(), [pod(phase="Succeeded", containerStatuses=done)]).outcome
    assert outcome is not None
    assert (JobState.LOST, Fault.PLATFORM) == (outcome.state, outcome.fault)


def test_of_two_pods_that_with_the_result_counts() -> None:
    """After Kueue has taken the place of the first."""
    done = pod("first", phase="Succeeded", created="2026-11-01",
               containerStatuses=container(exitCode=0, message=f"result 123 {SUM}"))  # fmt: skip
    later = pod("second", phase="Pending", created="2026-11-02")
    made = see(job(), [done, later]).made
    assert made is not None
    assert "first" == made.pod


def test_of_two_pods_that_which_is_not_being_deleted_counts() -> None:
    going = pod("first", phase="Running", created="2027-01-01", deleted="2027-01-02")
    outcome = see(job(), [going, pod("second", phase="Pending", created="2026-11-01")]).outcome
    assert outcome is not None
    assert JobState.WAITING == outcome.state


def test_a_pod_that_is_deleted_from_a_lost_node_is_over() -> None:
    """Nobody there says that it has ended."""
    told = [{"type": "DisruptionTarget", "status": "True", "message": "taint manager: deleting"}]
    outcome = see(job(), [pod(phase="Running", deleted="2026-11-02", conditions=told)]).outcome
    assert outcome is not None
    assert (JobState.LOST, Fault.SCHEDULER) == (outcome.state, outcome.fault)


def test_a_pod_that_somebody_deletes_is_not_ours_to_blame() -> None:
    gone = pod(phase="Failed", deleted="2026-11-02", containerStatuses=container(exitCode=137))
    outcome = see(job(), [gone]).outcome
    assert outcome is not None
    assert (Fault.SCHEDULER, "its pod was deleted on node 'gpu-node-1'") == (
        outcome.fault,
        outcome.reason,
    )


def test_a_job_whose_place_kueue_has_taken_waits_again() -> None:
    gone = pod(phase="Failed", deleted="2026-11-02", containerStatuses=container(exitCode=137))
    found = see(job(spec={"suspend": True}), [gone])
    assert found.outcome is not None
    assert (JobState.WAITING, Wait.QUEUE) == (found.outcome.state, found.wait)


def test_a_job_that_is_being_deleted_runs_until_it_is_gone() -> None:
    meta = {"name": "kernelbot-1", "uid": UID, "deletionTimestamp": "1970-01-01T00:00:00Z"}
    outcome = see(job(metadata=meta), []).outcome
    assert outcome is not None
    assert JobState.RUNNING == outcome.state
