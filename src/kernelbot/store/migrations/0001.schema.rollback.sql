DROP TABLE worker_counters, worker_devices, workers, events, artifacts, measurements, attempts, run_transitions,
    runs, submissions, sources, leaderboard_devices, leaderboards, competitions, problem_versions,
    problems, tokens, identities, users;
DROP FUNCTION add_event;
DROP FUNCTION guard_run_transition;
DROP FUNCTION refuse_change;
DROP TYPE phase, fault, run_verdict, attempt_state, run_state, review_state, submission_mode,
    board_visibility, user_role;
