"""Codes that open closed boards, each for one person."""
