"""The objects of an attempt, as Kubernetes takes them."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelbot.domain.errors import PlatformError
from kernelbot.launchers.handles import check_job_id, job_name
from kernelbot.launchers.kubernetes.answers import ATTEMPT
from kernelbot.launchers.kubernetes.script import (
    DELIVER,
    END_FILE,
    GIVEN_FOLDER,
    JOB_FOLDER,
    JUDGE,
    SHARED_MEMORY,
)
from kernelbot.launchers.kubernetes.settings import (
    KubernetesDevice,
    KubernetesSettings,
    Security,
    Toleration,
)
from kernelbot.protocol import JobSpec

Body = Mapping[str, Any]
"""JSON, as the API takes it."""
MANAGED_BY = "app.kubernetes.io/managed-by"
OURS = "kernelbot"
DEVICE = "kernelbot/device"
QUEUE = "kueue.x-k8s.io/queue-name"
JUDGE_CONTAINER = "judge"
DELIVER_CONTAINER = "deliver"
ATTEMPT_ID = r"(?=.{1,50}\Z)[a-z0-9]+(?:\.[a-z0-9]+)*"
"""What can name a Job. Different ones make different names, as none has a hyphen."""
_PLAIN = re.compile(ATTEMPT_ID)
_NO_LABEL = re.compile(r"[^A-Za-z0-9]+")
_LONGEST = 50
_LEFT_AFTER_TERM_S = 2


def object_name(attempt: str) -> str:
    """The name of an attempt's Job and Secret: a DNS label, and another one for each attempt.
    Raises `PlatformError` if the id can't make one."""
    if not _PLAIN.fullmatch(check_job_id(attempt)):
        raise PlatformError(f"{attempt[:80]!r} can't name a Job of Kubernetes'.")
    return job_name(attempt).replace(".", "-")


def device_label(device: str) -> str:
    """The device's name as a label may be: for people, who select Jobs by it."""
    return _NO_LABEL.sub("-", device).strip("-")[:_LONGEST].strip("-")


def secret_body(attempt: str, job_uid: str, content: Mapping[str, str]) -> Body:
    """The Secret with the job, which the cluster deletes with its Job."""
    name = object_name(attempt)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": job_uid}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "labels": {MANAGED_BY: OURS, ATTEMPT: attempt},
            "ownerReferences": [owner],
        },
        "type": "Opaque",
        "immutable": True,
        "stringData": dict(content),
    }


@dataclass(frozen=True)
class JobMaker:
    settings: KubernetesSettings

    def job_body(self, spec: JobSpec) -> Body:
        """The attempt's Job. Its pod waits for the Secret of the same name."""
        device = self.settings.devices[spec.device.name]
        labels = {
            MANAGED_BY: OURS,
            ATTEMPT: spec.job_id,
            DEVICE: device_label(spec.device.name),
        }
        judging_s = spec.longest_s + self.settings.slack_s
        job: dict[str, Any] = {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": math.ceil(self.settings.wait_s + judging_s),
            "ttlSecondsAfterFinished": math.ceil(self.settings.ttl_s),
            "template": {
                "metadata": {"labels": labels},
                "spec": self._pod(spec, device, math.ceil(judging_s)),
            },
        }
        if device.queue is not None:
            job["suspend"] = True  # until Kueue admits it
        queue = {QUEUE: device.queue} if device.queue is not None else {}
        return {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": object_name(spec.job_id), "labels": {**labels, **queue}},
            "spec": job,
        }

    def _pod(self, spec: JobSpec, device: KubernetesDevice, deadline_s: int) -> Body:
        settings = self.settings
        chosen = {
            "runtimeClassName": device.runtime_class,
            "priorityClassName": settings.priority_class,
            "serviceAccountName": settings.service_account,
            "nodeSelector": dict(device.node_selector),
            "tolerations": [_toleration(one) for one in device.tolerations],
            "imagePullSecrets": [{"name": name} for name in settings.image_pull_secrets],
        }
        pod: dict[str, Any] = {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": deadline_s,
            "terminationGracePeriodSeconds": _LEFT_AFTER_TERM_S,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "initContainers": [self._deliver(device)],
            "containers": [self._judge(spec, device)],
            "volumes": _volumes(object_name(spec.job_id), device),
            **{name: value for name, value in chosen.items() if value},
        }
        if settings.security is Security.CAPABILITIES:
            pod["hostUsers"] = False
        return pod

    def _deliver(self, device: KubernetesDevice) -> Body:
        """The container that copies the Secret, so that the one of the author's code has no volume
        with it."""
        return {
            "name": DELIVER_CONTAINER,
            "image": device.image,
            "command": ["/bin/sh", "-c", DELIVER],
            "resources": {
                "requests": {"cpu": "100m", "memory": "64Mi"},
                "limits": {"cpu": "1", "memory": "256Mi"},
            },
            "securityContext": {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "volumeMounts": [
                {"name": "secret", "mountPath": GIVEN_FOLDER, "readOnly": True},
                {"name": "job", "mountPath": JOB_FOLDER},
            ],
        }

    def _judge(self, spec: JobSpec, device: KubernetesDevice) -> Body:
        asked = {"cpu": device.cpu, "memory": device.memory}
        if device.resource is not None:
            asked[device.resource] = str(device.count)
        return {
            "name": JUDGE_CONTAINER,
            "image": device.image,
            "command": ["/bin/sh", "-c", JUDGE],
            "workingDir": "/out",
            "env": [{"name": "SUBMISSION_ATTEMPT", "value": spec.job_id}],
            "resources": {"requests": asked, "limits": asked},
            "securityContext": self._security(),
            "terminationMessagePath": END_FILE,
            "terminationMessagePolicy": "File",
            "volumeMounts": [
                {"name": "job", "mountPath": JOB_FOLDER},
                {"name": "shared-memory", "mountPath": SHARED_MEMORY},
            ],
        }

    def _security(self) -> Body:
        """To make a sandbox takes mounts and pivot_root (SYS_ADMIN) and a whole /proc; the judge
        reads outputs out of a runner's memory (SYS_PTRACE)."""
        if self.settings.security is Security.PRIVILEGED:
            return {"privileged": True, "runAsUser": 0}
        return {
            "runAsUser": 0,
            "capabilities": {"add": ["SYS_ADMIN", "SYS_PTRACE"]},
            "procMount": "Unmasked",
            "seccompProfile": {"type": "Unconfined"},
            "appArmorProfile": {"type": "Unconfined"},
        }


def _volumes(secret: str, device: KubernetesDevice) -> list[Body]:
    return [
        {
            "name": "secret",
            "projected": {"sources": [{"secret": {"name": secret}}], "defaultMode": 0o400},
        },
        {"name": "job", "emptyDir": {"medium": "Memory", "sizeLimit": "16Mi"}},
        {
            "name": "shared-memory",
            "emptyDir": {"medium": "Memory", "sizeLimit": device.shared_memory},
        },
    ]


def _toleration(one: Toleration) -> Body:
    said = {
        "key": one.key,
        "operator": one.operator.value,
        "value": one.value,
        "effect": one.effect.value if one.effect else "",
    }
    return {name: text for name, text in said.items() if text}
