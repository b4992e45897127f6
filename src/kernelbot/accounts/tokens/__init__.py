"""The texts with which programs and browsers act as a person."""
