-- Runs, the attempts to execute them, and their results.

CREATE TYPE run_state AS ENUM ('queued', 'dispatched', 'running', 'finished', 'lost', 'cancelled');
CREATE TYPE attempt_state AS ENUM ('launching', 'running', 'finished', 'lost', 'returned', 'cancelled');
CREATE TYPE run_verdict AS ENUM (
    'accepted', 'compile_error', 'wrong_answer', 'runtime_error', 'time_limit',
    'memory_limit', 'output_limit', 'rule_violation', 'internal_error'
);
CREATE TYPE fault AS ENUM ('author', 'platform', 'scheduler');
CREATE TYPE phase AS ENUM ('test', 'benchmark', 'leaderboard', 'profile');

-- A board's best submissions, measured again on one device. One worker (`owner`) measures all of
-- them: several workers may serve a device, each on its own machine, and the times of a rejudge are
-- compared with each other. The worker that claims its first run claims the others too, unless it
-- dies.
CREATE TABLE rejudges (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    owner text,
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE INDEX rejudges_board ON rejudges (leaderboard_id, device, id DESC);
CREATE UNIQUE INDEX rejudges_at_work ON rejudges (leaderboard_id, device) WHERE finished_at IS NULL;

-- `author_id` is repeated here so that one index finds an author's next run; it is deleted with the
-- submission, so it needs no foreign key. Only runs that wait or run need it. `priority`: 1 for a
-- ranked run, 0 for another. `ready_at`: the run isn't judged before; the pause between two attempts.
CREATE TABLE runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    device text NOT NULL,
    secret boolean NOT NULL,
    priority integer NOT NULL,
    state run_state NOT NULL DEFAULT 'queued',
    verdict run_verdict,
    fault fault,
    message text,
    score_s double precision,
    ci_low_s double precision,
    ci_high_s double precision,
    unverified boolean NOT NULL DEFAULT false,
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    finished_at timestamptz,
    author_id bigint,
    ready_at timestamptz,
    rejudge_id bigint REFERENCES rejudges ON DELETE CASCADE,
    CONSTRAINT runs_once UNIQUE NULLS NOT DISTINCT (submission_id, device, secret, rejudge_id),
    CONSTRAINT only_finished_has_a_verdict CHECK ((verdict IS NOT NULL) = (state = 'finished')),
    CONSTRAINT only_accepted_has_no_fault CHECK (
        (fault IS NOT NULL) = (verdict IS NOT NULL AND verdict <> 'accepted')
    ),
    CONSTRAINT only_accepted_has_a_score CHECK (
        score_s IS NULL OR (verdict IS NOT NULL AND verdict = 'accepted')
    ),
    CONSTRAINT score_is_a_positive_number CHECK (score_s > 0 AND score_s < 'Infinity'),
    CONSTRAINT interval_is_whole CHECK (
        (ci_low_s IS NULL) = (ci_high_s IS NULL)
        AND (ci_low_s IS NULL OR (score_s IS NOT NULL AND ci_low_s <= ci_high_s))
    ),
    CONSTRAINT ends_have_a_time CHECK (
        (finished_at IS NOT NULL) = (state IN ('finished', 'lost', 'cancelled'))
    ),
    CONSTRAINT open_has_an_author CHECK (
        state NOT IN ('queued', 'dispatched', 'running') OR author_id IS NOT NULL
    ),
    CONSTRAINT rejudged_on_secret_data CHECK (rejudge_id IS NULL OR secret)
);
CREATE INDEX runs_waiting ON runs (device, author_id, priority DESC, id) WHERE state = 'queued';
CREATE INDEX runs_at_work ON runs (device) WHERE state IN ('dispatched', 'running');
-- How long recent runs took on a device.
CREATE INDEX runs_ended ON runs (device, finished_at DESC) INCLUDE (started_at)
    WHERE state = 'finished';
CREATE INDEX runs_rejudge ON runs (rejudge_id);
CREATE INDEX runs_rejudge_waiting ON runs (device, id)
    WHERE state = 'queued' AND rejudge_id IS NOT NULL;

-- The same table as `domain/states.py`; a test compares them.
CREATE TABLE run_transitions (
    before run_state NOT NULL,
    after run_state NOT NULL,
    PRIMARY KEY (before, after)
);
INSERT INTO run_transitions VALUES
    ('queued', 'dispatched'), ('queued', 'cancelled'), ('queued', 'finished'),
    ('dispatched', 'running'), ('dispatched', 'queued'), ('dispatched', 'finished'),
    ('dispatched', 'lost'), ('dispatched', 'cancelled'),
    ('running', 'queued'), ('running', 'finished'), ('running', 'lost'), ('running', 'cancelled');

-- One attempt to execute a run. At most one is open at a time. `owner` is the worker that follows
-- it. `takeovers`: how often another worker has taken it over; beyond a limit it is lost.
CREATE TABLE attempts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    number integer NOT NULL CHECK (number >= 1),
    state attempt_state NOT NULL DEFAULT 'launching',
    launcher text NOT NULL,
    owner text NOT NULL,
    handle text,
    created_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    result jsonb,
    failure text,
    takeovers integer NOT NULL DEFAULT 0,
    UNIQUE (run_id, number),
    CONSTRAINT running_has_a_handle CHECK (state <> 'running' OR handle IS NOT NULL),
    CONSTRAINT finished_has_a_result CHECK (state <> 'finished' OR result IS NOT NULL),
    CONSTRAINT open_has_no_end CHECK ((ended_at IS NULL) = (state IN ('launching', 'running')))
);
CREATE UNIQUE INDEX attempts_open ON attempts (run_id) WHERE state IN ('launching', 'running');
CREATE INDEX attempts_open_owner ON attempts (owner) WHERE state IN ('launching', 'running');

-- Every sample is kept: zlib over little-endian doubles, in nanoseconds.
CREATE TABLE measurements (
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    phase phase NOT NULL,
    workload integer NOT NULL,
    spec text NOT NULL,
    samples integer NOT NULL,
    median_ns double precision NOT NULL,
    ci_low_ns double precision NOT NULL,
    ci_high_ns double precision NOT NULL,
    samples_zlib bytea NOT NULL,
    PRIMARY KEY (run_id, phase, workload)
);

CREATE TABLE artifacts (
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    name text NOT NULL,
    media_type text NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (run_id, name)
);
