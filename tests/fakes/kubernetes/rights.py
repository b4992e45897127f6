"""What the worker's account may do: as `deploy/kubernetes/` grants it, and nothing else."""

from pathlib import Path

import yaml

WORKER_RIGHTS = Path(__file__).parents[3] / "deploy" / "kubernetes" / "worker-rights.yaml"


def granted() -> set[tuple[str, str]]:
    """Verb and resource of each right."""
    found = set()
    for document in yaml.safe_load_all(WORKER_RIGHTS.read_text()):
        for rule in document.get("rules", ()):
            found |= {(verb, name) for verb in rule["verbs"] for name in rule["resources"]}
    return found
