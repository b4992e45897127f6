"""Whether a cluster has room for a device's pods."""

import json
from fractions import Fraction
from typing import Any

import pytest

from kernelbot.launchers.kubernetes import KubernetesDevice, Toleration
from kernelbot.launchers.kubernetes.answers import KubernetesNode, Quota
from kernelbot.launchers.kubernetes.room import quantity, why_no_node, why_no_quota
from kernelbot.launchers.kubernetes.settings import Effect, Operator

GPU = "nvidia.com/gpu"
TAINT = {"key": GPU, "value": "present", "effect": "NoSchedule"}


def device(**changes: Any) -> KubernetesDevice:
    return KubernetesDevice(resource=GPU, image="runner", **changes)


def node(
    name: str = "n1", *, spec: Any = None, ready: str = "True", **allocatable: str
) -> KubernetesNode:
    given = {"cpu": "16", "memory": "64Gi", GPU: "2", **allocatable}
    document = {
        "metadata": {"name": name, "uid": name, "labels": {"zone": "a"}},
        "spec": spec or {},
        "status": {"allocatable": given, "conditions": [{"type": "Ready", "status": ready}]},
    }
    return KubernetesNode.model_validate_json(json.dumps(document))


def quota(hard: dict[str, str], used: dict[str, str], **spec: Any) -> Quota:
    meta = {"name": "gpus", "uid": "q1"}
    document = {"metadata": meta, "spec": spec, "status": {"hard": hard, "used": used}}
    return Quota.model_validate_json(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0", Fraction(0)),
        ("2", Fraction(2)),
        ("1500m", Fraction(3, 2)),
        ("0.5", Fraction(1, 2)),
        ("16Gi", Fraction(16 << 30)),
        ("129M", Fraction(129_000_000)),
        ("1k", Fraction(1000)),
        ("", None),
        ("-1", None),
        ("1e3", None),
        ("1 Gi", None),
        ("a'; echo x", None),
        ("9" * 40, None),
        ("\u0661", None),
    ],
)
def test_amounts_are_read_as_kubernetes_writes_them(text: str, amount: Fraction | None) -> None:
    assert amount == quantity(text)


@pytest.mark.parametrize(
    ("nodes", "asked", "said"),
    [
        ([], device(), "has the labels"),
        ([node()], device(), ""),
        ([node()], device(count=3), "has 3 nvidia.com/gpu"),
        ([node()], device(memory="65Gi"), "beside its cpu and memory"),
        ([node(cpu="3999m")], device(), "no node"),
        ([node(**{GPU: "many"})], device(), "no node"),
        ([node(ready="Unknown")], device(), "take no pods now: n1"),
        ([node(spec={"unschedulable": True})], device(), "take no pods now: n1"),
        ([node(spec={"taints": [TAINT]})], device(), "take no pods now: n1"),
        ([node(spec={"taints": [TAINT]}), node("n2")], device(), ""),
        ([node(spec={"taints": [{**TAINT, "effect": "PreferNoSchedule"}]})], device(), ""),
        ([node()], device(node_selector={"zone": "b"}), "has the labels"),
        ([node()], device(node_selector={"zone": "a"}), ""),
    ],
)
def test_why_no_node_takes_a_pod(
    nodes: list[KubernetesNode], asked: KubernetesDevice, said: str
) -> None:
    why = why_no_node(nodes, asked)
    assert (bool(said), True) == (bool(why), said in why)


@pytest.mark.parametrize(
    ("toleration", "takes"),
    [
        (Toleration(GPU, Operator.EXISTS), True),
        (Toleration("", Operator.EXISTS), True),
        (Toleration(GPU, Operator.EQUAL, "present"), True),
        (Toleration(GPU, Operator.EQUAL, "absent"), False),
        (Toleration(GPU, Operator.EXISTS, effect=Effect.NO_SCHEDULE), True),
        (Toleration(GPU, Operator.EXISTS, effect=Effect.NO_EXECUTE), False),
        (Toleration("other", Operator.EXISTS), False),
        (Toleration("", Operator.EQUAL, "present"), False),
    ],
)
def test_which_toleration_puts_up_with_a_taint(toleration: Toleration, takes: bool) -> None:
    why = why_no_node([node(spec={"taints": [TAINT]})], device(tolerations=(toleration,)))
    assert takes == (why == "")


@pytest.mark.parametrize(
    ("hard", "used", "said"),
    [
        ({f"requests.{GPU}": "2"}, {f"requests.{GPU}": "1"}, ""),
        ({f"requests.{GPU}": "2"}, {f"requests.{GPU}": "2"}, "'gpus' has 2 of 2 requests.nvidia"),
        ({f"requests.{GPU}": "0"}, {}, "0 of 0"),
        ({"count/jobs.batch": "5"}, {"count/jobs.batch": "5"}, "count/jobs.batch"),
        ({"limits.memory": "64Gi"}, {"limits.memory": "49Gi"}, "limits.memory"),
        ({"services": "0"}, {}, ""),
        ({"pods": "strange"}, {}, ""),
    ],
)
def test_which_quota_is_used_up(hard: dict[str, str], used: dict[str, str], said: str) -> None:
    why = why_no_quota([quota(hard, used)], device())
    assert (bool(said), True) == (bool(why), said in why)


@pytest.mark.parametrize(
    ("spec", "counts"),
    [
        ({}, True),
        ({"scopes": []}, True),
        ({"scopes": ["NotTerminating"]}, False),
        (
            {
                "scopeSelector": {
                    "matchExpressions": [
                        {"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}
                    ]
                }
            },
            False,
        ),
    ],
)
def test_a_quota_of_some_pods_is_not_taken_for_one_of_ours(
    spec: dict[str, Any], counts: bool
) -> None:
    assert counts == bool(why_no_quota([quota({"pods": "0"}, {}, **spec)], device()))
