"""Adapters to where runs are executed: the `base` contract and one module per scheduler."""
