"""The process with Ray's package: `python -m kernelbot.launchers.ray.child ADDRESS NAMESPACE
HARNESS TIMEOUT_S`. It answers each line of its standard input with one of its standard output, and
ends with its input. If it loses the cluster, Ray ends it, and the worker starts another."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import ray
from ray import cloudpickle, exceptions

from kernelbot.launchers.ray import keeper
from kernelbot.launchers.ray.messages import (
    AttemptAnswer,
    KeeperAnswer,
    KeeperQuestion,
    KeeperRequest,
    failure,
)

_HEAD = "node:__internal_head__"
"""A resource of the head alone: other nodes come and go."""


class KeeperClient:
    """Asks the cluster's keeper."""

    def __init__(self, namespace: str, harness: Path, timeout_s: float) -> None:
        self._content = harness.read_bytes()
        self._sha256 = hashlib.sha256(self._content).hexdigest()
        self._namespace = namespace
        self._timeout_s = timeout_s

    def answer(self, question: KeeperQuestion) -> KeeperAnswer:
        """Raises what Ray raises."""
        if question.ask is KeeperRequest.NODES:
            alive = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            return KeeperAnswer(nodes=tuple(alive))
        actor = self._keeper()
        keeper_id = self._get(actor.id.remote())
        if question.job is not None:
            self._launch(actor, question.job)
        elif question.ask is KeeperRequest.POLL:
            kept, told = self._get([actor.kept.remote(), actor.poll.remote(question.attempts)])
            shown = {name: AttemptAnswer.from_keeper(state) for name, state in told.items()}
            return KeeperAnswer(keeper=keeper_id, told=shown, kept=kept)
        elif question.keeper == keeper_id:
            what = actor.cancel if question.ask is KeeperRequest.CANCEL else actor.forget
            self._get([what.remote(attempt) for attempt in question.attempts])
        return KeeperAnswer(keeper=keeper_id)

    def _keeper(self) -> Any:
        """The cluster's of this version; made if there is none."""
        return (
            ray.remote(keeper.Keeper)
            .options(
                name=keeper.keeper_name(),
                namespace=self._namespace,
                lifetime="detached",
                get_if_exists=True,
                num_cpus=0,
                max_restarts=0,
                resources={_HEAD: 0.001},
            )
            .remote()
        )

    def _launch(self, actor: Any, job: keeper.TaskJob) -> None:
        if not self._get(actor.has_harness.remote(self._sha256)):
            self._get(actor.keep_harness.remote(self._content))
        self._get(actor.launch.remote(job, self._sha256))

    def _get(self, reference: Any) -> Any:
        return ray.get(reference, timeout=self._timeout_s)


def main() -> None:
    """Until the input ends."""
    address, namespace, harness, timeout_s = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what Ray prints goes to the log
    cloudpickle.register_pickle_by_value(keeper)
    ray.init(address, namespace=namespace, log_to_driver=False, logging_level="ERROR")
    child = KeeperClient(namespace, Path(harness), float(timeout_s))
    print(KeeperAnswer().model_dump_json(), file=out)
    for line in sys.stdin:
        try:
            answer = child.answer(KeeperQuestion.model_validate_json(line))
        except (exceptions.RayError, ValueError, RuntimeError) as error:
            answer = failure(error)
        print(answer.model_dump_json(), file=out)


if __name__ == "__main__":
    main()
