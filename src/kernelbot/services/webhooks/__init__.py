"""Webhooks: who is told what (`service`), how it is sent (`sender`), how often (`deliveries`)."""
