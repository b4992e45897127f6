"""A submission on one device, from the queue to its verdict."""
