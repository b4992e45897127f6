"""What Kubernetes refuses of a Job's pod although its description allows it, in its words."""

from tests.fakes.kubernetes.facts import Wire


def refused(pod: Wire) -> str:
    """Why; empty: it takes it."""
    template = "spec.template.spec"
    if pod.get("restartPolicy", "Always") == "Always":
        return f'{template}.restartPolicy: Required value: valid values: "OnFailure", "Never"'
    for number, container in enumerate(pod["containers"]):
        context = container.get("securityContext", {})
        where = f"{template}.containers[{number}].securityContext"
        if context.get("procMount") == "Unmasked" and pod.get("hostUsers", True):
            why = "`hostUsers` must be false to use `Unmasked`"
            return f'{where}.procMount: Invalid value: "Unmasked": {why}'
    return ""
