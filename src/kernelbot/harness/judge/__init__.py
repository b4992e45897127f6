"""One job, phase by phase, on the trusted side."""
