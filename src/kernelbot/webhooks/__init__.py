"""Addresses that are told by signed requests what happens."""
