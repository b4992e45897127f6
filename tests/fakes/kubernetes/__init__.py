"""Kubernetes' API as far as a launcher uses it, and a node that runs pods as local processes."""

from tests.fakes.kubernetes.server import NAMESPACE, TOKEN, FakeKubernetes, fake_kubernetes

__all__ = ["NAMESPACE", "TOKEN", "FakeKubernetes", "fake_kubernetes"]
