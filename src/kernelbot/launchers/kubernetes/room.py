"""Whether a cluster has room for a device's pods: its nodes, and the namespace's quotas."""

import asyncio
import re
import time
from collections.abc import Iterable, Mapping
from fractions import Fraction

from kernelbot.launchers.kubernetes.answers import KubernetesNode, Quota, Taint
from kernelbot.launchers.kubernetes.api import KubernetesApi
from kernelbot.launchers.kubernetes.settings import Effect, KubernetesDevice, Operator, Toleration

_QUANTITY = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,9}))?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?")
_UNITS = {"": Fraction(1), "m": Fraction(1, 1000)}
_UNITS |= {unit: Fraction(1000) ** (at + 1) for at, unit in enumerate("kMGTPE")}
_UNITS |= {f"{unit}i": Fraction(1024) ** (at + 1) for at, unit in enumerate("KMGTPE")}
_COUNTED = ("count/jobs.batch", "pods", "count/pods", "count/secrets", "secrets")
"""What each of our jobs has one of."""
_KEEPS_AWAY = frozenset((Effect.NO_SCHEDULE, Effect.NO_EXECUTE))
_NODES_FOR_S = 10.0


class ClusterRoom:
    """The cluster's nodes and the namespace's quotas, as far as our account may see them: asked for
    once for all devices, and again after a while."""

    def __init__(self, api: KubernetesApi) -> None:
        self._api = api
        self._asking = asyncio.Lock()
        self._asked_at = float("-inf")
        self._nodes: tuple[KubernetesNode, ...] | None = None
        self._quotas: tuple[Quota, ...] | None = None

    async def why_none(self, device: KubernetesDevice) -> str:
        """Why there is no room for one more of the device's jobs; empty: there is, or we may not
        see. An autoscaler may make another node; a queue has a quota of its own. Raises
        `SchedulerError` if the cluster doesn't answer."""
        async with self._asking:
            if time.monotonic() - self._asked_at >= _NODES_FOR_S:
                self._quotas = await self._api.quotas()
                self._nodes = await self._api.nodes()
                self._asked_at = time.monotonic()
        why = ""
        if self._nodes is not None and not device.autoscaled:
            why = why_no_node(self._nodes, device)
        if not why and self._quotas is not None and device.queue is None:
            why = why_no_quota(self._quotas, device)
        return why


def quantity(text: str) -> Fraction | None:
    """What Kubernetes' `1500m` or `16Gi` means; None: something else."""
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return None
    whole, part, unit = found.groups()
    return Fraction(f"{whole}.{part or 0}") * _UNITS[unit or ""]


def why_no_node(nodes: Iterable[KubernetesNode], device: KubernetesDevice) -> str:
    """Why none of the nodes could ever take one of its pods; empty: one could."""
    chosen = [node for node in nodes if _is_selected(node, device.node_selector)]
    if not chosen:
        return "no node of the cluster has the labels that it selects"
    having = [node for node in chosen if _has(node, device)]
    if not having:
        asked = f"{device.count} {device.resource}" if device.resource else "its processors"
        return f"no node of the cluster has {asked} beside its cpu and memory"
    if not any(_takes_pods(node, device.tolerations) for node in having):
        names = ", ".join(node.meta.name for node in having[:5])
        return f"the nodes that have it take no pods now: {names}"
    return ""


def why_no_quota(quotas: Iterable[Quota], device: KubernetesDevice) -> str:
    """Which quota has no room for one more of its jobs; empty: all have. One that counts only some
    pods may not count ours: if it does and is used up, the job waits for its pod."""
    wanted = {name: Fraction(1) for name in _COUNTED}
    for name, asked in _asked(device).items():
        wanted |= {f"requests.{name}": asked, f"limits.{name}": asked, name: asked}
    for quota in filter(lambda one: one.is_of_all, quotas):
        for name, hard in (quota.status.hard or {}).items():
            most = quantity(hard)
            used = quantity((quota.status.used or {}).get(name, "0"))
            if most is None or used is None or name not in wanted:
                continue
            if used + wanted[name] > most:
                used_text = (quota.status.used or {}).get(name, "0")
                return f"quota {quota.meta.name!r} has {used_text} of {hard} {name} in use"
    return ""


def _asked(device: KubernetesDevice) -> dict[str, Fraction]:
    texts = {"cpu": device.cpu, "memory": device.memory}
    if device.resource is not None:
        texts[device.resource] = str(device.count)
    return {name: found for name, text in texts.items() if (found := quantity(text)) is not None}


def _is_selected(node: KubernetesNode, selector: Mapping[str, str]) -> bool:
    labels = node.meta.labels or {}
    return all(labels.get(name) == value for name, value in selector.items())


def _has(node: KubernetesNode, device: KubernetesDevice) -> bool:
    given = node.status.allocatable or {}
    return all(
        (quantity(given.get(name, "0")) or 0) >= asked for name, asked in _asked(device).items()
    )


def _takes_pods(node: KubernetesNode, tolerations: Iterable[Toleration]) -> bool:
    if node.spec.unschedulable:
        return False
    ready = next((one for one in node.status.conditions or () if one.type == "Ready"), None)
    if ready is None or not ready.holds:
        return False
    tolerated = tuple(tolerations)
    keeping = (taint for taint in node.spec.taints or () if taint.effect in _KEEPS_AWAY)
    return all(any(_tolerates(one, taint) for one in tolerated) for taint in keeping)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect is not None and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator is Operator.EXISTS:
        return True
    return bool(toleration.key) and toleration.value == (taint.value or "")
