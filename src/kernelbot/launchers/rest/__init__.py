"""What launchers share that talk to a scheduler's REST API. Answers are bounded and checked, tokens
stay here, limits are kept, and one list tells of all jobs."""
