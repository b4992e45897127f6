-- What is known to be right of a board's problem, and how long it takes on each device.

-- A starter file or one of `solutions/correct`, judged once by the platform for each device and
-- version. `score_s` NULL after its end: it wasn't accepted, e.g. because the starter file does nothing.
CREATE TABLE known_right (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    name text NOT NULL,
    source_sha256 bytea NOT NULL REFERENCES sources,
    score_s double precision CHECK (score_s > 0 AND score_s < 'Infinity'),
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE,
    UNIQUE (leaderboard_id, device, problem_version_id, name),
    CONSTRAINT only_ended_has_a_score CHECK (score_s IS NULL OR ended_at IS NOT NULL)
);
CREATE INDEX known_right_waiting ON known_right (device, id) WHERE ended_at IS NULL;
CREATE INDEX known_right_version ON known_right (problem_version_id);
CREATE INDEX known_right_source ON known_right (source_sha256);
-- Its run is no submission's, as a duel's isn't.
ALTER TABLE runs ADD COLUMN known_id bigint REFERENCES known_right ON DELETE CASCADE;
ALTER TABLE runs DROP CONSTRAINT of_a_submission_or_a_duel;
ALTER TABLE runs ADD CONSTRAINT of_one_thing
    CHECK (num_nonnulls(submission_id, duel_id, known_id) = 1);
ALTER TABLE runs DROP CONSTRAINT runs_once;
ALTER TABLE runs ADD CONSTRAINT runs_once
    UNIQUE NULLS NOT DISTINCT (submission_id, device, secret, rejudge_id, duel_id, known_id);
CREATE INDEX runs_known ON runs (known_id) WHERE known_id IS NOT NULL;
-- Those that go before all others.
CREATE INDEX runs_ahead ON runs (device, id)
    WHERE state = 'queued' AND (repeats > 0 OR known_id IS NOT NULL);
