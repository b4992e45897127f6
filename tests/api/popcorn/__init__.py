"""The adapter for existing clients; tests/conformance drives it from outside."""
