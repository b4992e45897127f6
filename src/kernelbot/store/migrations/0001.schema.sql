-- Everything that is kept, and the rows that can't exist.

CREATE TYPE user_role AS ENUM ('competitor', 'creator', 'admin');
CREATE TYPE board_visibility AS ENUM ('public', 'closed');
CREATE TYPE submission_mode AS ENUM ('test', 'benchmark', 'profile', 'leaderboard');
CREATE TYPE review_state AS ENUM ('clear', 'held', 'refused');
CREATE TYPE run_state AS ENUM ('queued', 'dispatched', 'running', 'finished', 'lost', 'cancelled');
CREATE TYPE attempt_state AS ENUM ('launching', 'running', 'finished', 'lost', 'returned', 'cancelled');
CREATE TYPE run_verdict AS ENUM (
    'accepted', 'compile_error', 'wrong_answer', 'runtime_error', 'time_limit',
    'memory_limit', 'output_limit', 'rule_violation', 'internal_error'
);
CREATE TYPE fault AS ENUM ('author', 'platform', 'scheduler');
CREATE TYPE phase AS ENUM ('test', 'benchmark', 'leaderboard', 'profile');

CREATE TABLE users (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    role user_role NOT NULL DEFAULT 'competitor',
    created_at timestamptz NOT NULL DEFAULT now(),
    banned_at timestamptz
);
CREATE UNIQUE INDEX users_name ON users (lower(name));

CREATE TABLE identities (
    provider text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider, subject)
);
CREATE INDEX identities_user ON identities (user_id);

CREATE TABLE tokens (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    name text NOT NULL,
    hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz
);
CREATE INDEX tokens_user ON tokens (user_id);

CREATE TABLE problems (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A version never changes. `definition` is json and not jsonb: the order of a case's arguments
-- is part of it.
CREATE TABLE problem_versions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    problem_id bigint NOT NULL REFERENCES problems,
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    definition json NOT NULL,
    harness text NOT NULL CHECK (harness IN ('native', 'script')),
    ranking_by text NOT NULL CHECK (ranking_by IN ('last', 'mean', 'geom')),
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (problem_id, content_hash)
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a row of % never changes', TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END;
$$;
CREATE TRIGGER problem_versions_immutable BEFORE UPDATE ON problem_versions
    FOR EACH ROW EXECUTE FUNCTION refuse_change();

CREATE TABLE competitions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- `secret` seeds the ranked runs; it leaves the store in job specifications only.
CREATE TABLE leaderboards (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    competition_id bigint REFERENCES competitions,
    name text NOT NULL CHECK (length(name) BETWEEN 1 AND 64),
    description text NOT NULL,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    visibility board_visibility NOT NULL,
    deadline timestamptz,
    creator_id bigint NOT NULL REFERENCES users,
    secret bytea NOT NULL CHECK (octet_length(secret) = 32),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX leaderboards_name ON leaderboards (lower(name));
CREATE INDEX leaderboards_competition ON leaderboards (competition_id);
CREATE INDEX leaderboards_problem_version ON leaderboards (problem_version_id);

-- `authors` counts the rows of `standings`, kept by the functions that write those.
CREATE TABLE leaderboard_devices (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    device text NOT NULL,
    position integer NOT NULL,
    authors integer NOT NULL DEFAULT 0 CHECK (authors >= 0),
    PRIMARY KEY (leaderboard_id, device)
);

CREATE TABLE sources (
    sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
    content text NOT NULL
);

-- A submission's state is derived from its runs.
CREATE TABLE submissions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL REFERENCES leaderboards,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    author_id bigint NOT NULL REFERENCES users,
    source_sha256 bytea NOT NULL REFERENCES sources,
    file_name text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 255),
    mode submission_mode NOT NULL,
    review review_state NOT NULL DEFAULT 'clear',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX submissions_author ON submissions (author_id, id DESC);
CREATE INDEX submissions_board_author ON submissions (leaderboard_id, author_id, id DESC);
CREATE INDEX submissions_source ON submissions (source_sha256);

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
    UNIQUE (submission_id, device, secret),
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
    )
);
CREATE INDEX runs_waiting ON runs (device, priority DESC, id) WHERE state = 'queued';
CREATE INDEX runs_at_work ON runs (device) WHERE state IN ('dispatched', 'running');

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

CREATE FUNCTION guard_run_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM run_transitions WHERE before = OLD.state AND after = NEW.state) THEN
        RAISE EXCEPTION 'run % can''t go from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER runs_transition BEFORE UPDATE OF state ON runs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION guard_run_transition();

-- One try to execute a run. At most one is open at a time. `owner` is the worker that follows it.
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

-- `id` counts within a submission. `run_id` goes with the submission, so it needs no key of its own.
CREATE TABLE events (
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    id integer NOT NULL,
    run_id bigint,
    kind text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (submission_id, id)
);

-- Numbers the event and wakes whoever follows the submission when the transaction commits. The
-- lock makes ids appear in their order, so that a reader who resumes after one misses none.
CREATE FUNCTION add_event(_submission bigint, _run bigint, _kind text, _data jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(_submission);
    INSERT INTO events (submission_id, id, run_id, kind, data)
    SELECT _submission, coalesce(max(id), 0) + 1, _run, _kind, _data
    FROM events WHERE submission_id = _submission;
    PERFORM pg_notify('kernelbot_events', _submission::text);
END;
$$;

CREATE TABLE workers (
    owner text PRIMARY KEY,
    node text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE worker_devices (
    owner text NOT NULL REFERENCES workers ON DELETE CASCADE,
    device text NOT NULL,
    available boolean NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (owner, device)
);

-- What a worker has counted since its start; metrics are made of it.
CREATE TABLE worker_counters (
    owner text NOT NULL REFERENCES workers ON DELETE CASCADE,
    name text NOT NULL,
    label text NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (owner, name, label)
);
