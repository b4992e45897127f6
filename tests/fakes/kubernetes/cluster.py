"""What a cluster does with a Job: its controllers, one node, and the collection of garbage."""

import copy
import secrets
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.kubernetes.facts import Wire
from tests.fakes.kubernetes.kubelet import Ended, RunningPod, environment_of, make_image
from tests.fakes.kubernetes.store import Store

NODE = "gpu-node-1"
_TRUE, _FALSE = "True", "False"
_DECIDED = {"Complete": "SuccessCriteriaMet", "Failed": "FailureTarget"}


def node(name: str = NODE, **changes: Any) -> Wire:
    """One that takes pods."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {
            "allocatable": {"cpu": "15800m", "memory": "64Gi", "nvidia.com/gpu": "2"},
            "conditions": [{"type": "Ready", "status": _TRUE}],
        },
        **changes,
    }


@dataclass
class FakeCluster:
    """Outlives its launchers. `held`: no node takes a pod."""

    folder: Path
    harness: Path
    store: Store = field(default_factory=Store)
    nodes: list[Wire] = field(default_factory=lambda: [node()])
    quotas: list[Wire] = field(default_factory=list)
    events: list[Wire] = field(default_factory=list)
    held: bool = False
    makes_pods: bool = True
    """False: a quota or a policy is against it."""
    told_phases: dict[str, str] = field(default_factory=dict)
    """By the uid of a Job: what is told instead of its pod's phase."""
    _running: dict[str, RunningPod] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.image = make_image(self.folder / "image")

    def close(self) -> None:
        """End all."""
        self.store.close()
        for running in list(self._running.values()):
            running.kill()
        for thread in self._threads:
            thread.join()

    def judged(self) -> list[str]:
        """The jobs that the nodes have begun."""
        log = self.folder / "judged.log"
        return log.read_text().split() if log.exists() else []

    def pods_of(self, job: Wire) -> list[Wire]:
        """Those that the Job made."""
        return self.store.owned("Pod", job["metadata"]["uid"])

    def create_job(self, made: Wire) -> Wire:
        """As the API has accepted it."""
        with self.store.lock:
            job = self.store.add("Job", {**made, "status": {}})
        if not made["spec"].get("suspend") and self.makes_pods:
            self.make_pod(job)
        return job

    def make_pod(self, job: Wire) -> None:
        """What the Job's controller does."""
        template, meta = copy.deepcopy(job["spec"]["template"]), job["metadata"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "controller": True}
        pod = {
            "metadata": {
                "name": f"{meta['name']}-{secrets.token_hex(3)[:5]}",
                "labels": dict(template["metadata"]["labels"]),
                "ownerReferences": [{**owner, "name": meta["name"], "uid": meta["uid"]}],
            },
            "spec": template["spec"],
            "status": {"phase": "Pending"},
        }
        with self.store.lock:
            made = self.store.add("Pod", pod)
        thread = threading.Thread(target=self._live, args=(job, made))
        self._threads.append(thread)
        thread.start()

    def _live(self, job: Wire, pod: Wire) -> None:
        """A pod's life, in a thread of its own."""
        if not self._scheduled(pod):
            return
        running = RunningPod(
            self.folder / "pods" / pod["metadata"]["uid"],
            self.image,
            environment_of(self.folder, self.harness),
        )
        with self.store.lock:
            self._running[pod["metadata"]["uid"]] = running
            found = self._secrets_of(pod)
            while found is None and not self._is_gone(pod):
                self.store.lock.wait()
                found = self._secrets_of(pod)
        if found is None:
            return
        running.prepare(pod, found)
        try:
            self._run(job, pod, running)
        except FileNotFoundError:  # the pod was deleted, and its folder with it
            assert running.killed

    def _scheduled(self, pod: Wire) -> bool:
        with self.store.lock:
            if self.held:
                told = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."
                pod["status"]["conditions"] = [
                    {
                        "type": "PodScheduled",
                        "status": _FALSE,
                        "reason": "Unschedulable",
                        "message": told,
                    }
                ]
                self.store.modified("Pod", pod)
            while self.held and not self._is_gone(pod):
                self.store.lock.wait()
            if self._is_gone(pod):
                return False
            pod["spec"]["nodeName"] = NODE
            pod["status"]["conditions"] = [{"type": "PodScheduled", "status": _TRUE}]
            self.store.modified("Pod", pod)
            return True

    def release(self) -> None:
        """From now on the node takes pods."""
        with self.store.lock:
            self.held = False
            self.store.lock.notify_all()

    def lack_image(self, job: Wire) -> None:
        """Tell of its pod, which no node has begun, that its image can't be pulled."""
        with self.store.lock:
            (pod,) = self.pods_of(job)
            while self.held and "conditions" not in pod["status"]:
                self.store.lock.wait()  # else it would be told of no node afterwards
            waiting = {"reason": "ErrImagePull", "message": "manifest unknown"}
            common = {"image": "x", "imageID": "", "ready": False, "restartCount": 0}
            told = {"name": "deliver", "state": {"waiting": waiting}, **common}
            pod["status"] = {"phase": "Pending", "initContainerStatuses": [told]}
            self.store.modified("Pod", pod)

    def _is_gone(self, pod: Wire) -> bool:
        there = self.store.objects.get(("Pod", pod["metadata"]["name"])) is pod
        over = pod["status"]["phase"] in ("Succeeded", "Failed")
        return self.store.closed or not there or over or "deletionTimestamp" in pod["metadata"]

    def _secrets_of(self, pod: Wire) -> dict[str, Wire] | None:
        """None: one isn't there yet."""
        sources = [
            source["secret"]["name"]
            for volume in pod["spec"]["volumes"]
            for source in volume.get("projected", {}).get("sources", ())
        ]
        found = {name: self.store.objects.get(("Secret", name)) for name in sources}
        there = {name: secret for name, secret in found.items() if secret is not None}
        return there if len(there) == len(found) else None

    def _run(self, job: Wire, pod: Wire, running: RunningPod) -> None:
        for container in pod["spec"]["initContainers"]:
            ended = running.run(container)
            self._container(pod, "initContainerStatuses", container, ended)
            if ended.code != 0:
                self.end_pod(job, pod, "Failed")
                return
        (container,) = pod["spec"]["containers"]
        with self.store.lock:
            if self._is_gone(pod):
                return
            pod["status"]["phase"] = self.told_phases.get(job["metadata"]["uid"], "Running")
            self.store.modified("Pod", pod)
        ended = running.run(container)
        self._container(pod, "containerStatuses", container, ended)
        self.end_pod(job, pod, "Succeeded" if ended.code == 0 else "Failed")

    def _container(self, pod: Wire, where: str, container: Wire, ended: Ended) -> None:
        terminated = {
            "exitCode": ended.code,
            "reason": "Completed" if ended.code == 0 else "Error",
            "message": ended.message,
        }
        status = {
            "name": container["name"],
            "image": container["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": {"terminated": terminated},
        }
        with self.store.lock:
            if not self._is_gone(pod):
                pod["status"][where] = [status]
                self.store.modified("Pod", pod)

    def end_pod(self, job: Wire, pod: Wire, phase: str, **status: Any) -> None:
        """It is over, and so is its Job; unless it was deleted."""
        with self.store.lock:
            if self._is_gone(pod):
                return
            pod["status"] |= {"phase": phase, **status}
            self.store.modified("Pod", pod)
        if (running := self._running.get(pod["metadata"]["uid"])) is not None:
            running.kill()
        if phase == "Succeeded":
            told = "Reached expected number of succeeded pods"
            self.end_job(job, "Complete", reason="CompletionsReached", message=told)
        else:
            told = "Job has reached the specified backoff limit"
            self.end_job(job, "Failed", reason="BackoffLimitExceeded", message=told)

    def end_job(self, job: Wire, how: str, **said: str) -> None:
        """As its controller notes it: first that it will end so, and then that it has."""
        with self.store.lock:
            decided = {"type": _DECIDED[how], "status": _TRUE, **said}
            job["status"]["conditions"] = [decided]
            self.store.modified("Job", job)
            job["status"]["conditions"] = [decided, {"type": how, "status": _TRUE, **said}]
            self.store.modified("Job", job)

    def tell_phase(self, job: Wire, phase: str) -> None:
        """What is told of its pod from now on."""
        with self.store.lock:
            self.told_phases[job["metadata"]["uid"]] = phase
            for pod in self.pods_of(job):
                pod["status"]["phase"] = phase
                self.store.modified("Pod", pod)

    def delete_job(self, job: Wire, propagation: str) -> None:
        """With all that goes with it: before it, or after."""
        name = job["metadata"]["name"]
        with self.store.lock:
            if propagation == "Foreground":
                job["metadata"]["deletionTimestamp"] = self.store.time
                job["metadata"]["finalizers"] = ["foregroundDeletion"]
                self.store.modified("Job", job)
            else:
                self.store.remove("Job", name)
        thread = threading.Thread(target=self._collect, args=(job,))
        self._threads.append(thread)
        thread.start()

    def _collect(self, job: Wire) -> None:
        with self.store.lock:
            pods = self.pods_of(job)
        for pod in pods:
            self.delete_pod(pod)
        with self.store.lock:
            for secret in self.store.owned("Secret", job["metadata"]["uid"]):
                self.store.remove("Secret", secret["metadata"]["name"])
            self.store.remove("Job", job["metadata"]["name"])

    def delete_pod(self, pod: Wire) -> None:
        """As when somebody drains its node: it is told that it will go before it has gone."""
        with self.store.lock:
            pod["metadata"]["deletionTimestamp"] = self.store.time
            self.store.modified("Pod", pod)
            self.store.remove("Pod", pod["metadata"]["name"])
            running = self._running.pop(pod["metadata"]["uid"], None)
        if running is not None:
            running.kill()
            running.remove()

    def log(self, pod: str, container: str) -> bytes | None:
        """What it has printed; None: there is none of this name."""
        found = self.store.objects.get(("Pod", pod))
        running = None if found is None else self._running.get(found["metadata"]["uid"])
        file = None if running is None else running.logs.get(container)
        return None if file is None else file.read_bytes()
