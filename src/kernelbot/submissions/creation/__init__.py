"""What is checked before a submission is accepted, and storing it."""
