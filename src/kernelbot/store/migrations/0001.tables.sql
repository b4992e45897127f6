-- Every table of the first release, by subject. Later migrations change the tables.

-- Accounts, how people prove who they are, and logins that have begun and not yet ended.

CREATE TYPE user_role AS ENUM ('competitor', 'creator', 'admin');

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

-- Secrets are stored as hashes if their text isn't needed.
CREATE TABLE login_attempts (
    state_hash bytea PRIMARY KEY CHECK (octet_length(state_hash) = 32),
    browser_hash bytea NOT NULL CHECK (octet_length(browser_hash) = 32),
    provider text NOT NULL,
    code_verifier text NOT NULL,
    redirect_uri text NOT NULL,
    next_path text NOT NULL,
    invite text,
    linking_user_id bigint REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX login_attempts_expiry ON login_attempts (expires_at);
CREATE INDEX login_attempts_user ON login_attempts (linking_user_id);

-- Terminals that poll too often are told to slow down (RFC 8628, 3.5).
CREATE TABLE device_logins (
    device_hash bytea PRIMARY KEY CHECK (octet_length(device_hash) = 32),
    user_code text NOT NULL UNIQUE,
    user_id bigint REFERENCES users ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    polled_at timestamptz,
    interval_s integer NOT NULL DEFAULT 2 CHECK (interval_s > 0)
);
CREATE INDEX device_logins_expiry ON device_logins (expires_at);
CREATE INDEX device_logins_user ON device_logins (user_id);

-- Problems, the boards that rank their solutions, and who is invited.

CREATE TYPE board_visibility AS ENUM ('public', 'closed');
CREATE TYPE limit_category AS ENUM ('test', 'leaderboard');

CREATE TABLE problems (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- A version never changes. `definition` is json and not jsonb: the order of a case's arguments is
-- part of it. Versions with the same `judging_hash` are judged alike: only their texts for people
-- differ.
CREATE TABLE problem_versions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    problem_id bigint NOT NULL REFERENCES problems,
    content_hash bytea NOT NULL CHECK (octet_length(content_hash) = 32),
    definition json NOT NULL,
    harness text NOT NULL CHECK (harness IN ('native', 'script')),
    ranking_by text NOT NULL CHECK (ranking_by IN ('last', 'mean', 'geom')),
    created_at timestamptz NOT NULL DEFAULT now(),
    judging_hash bytea NOT NULL,
    lang text GENERATED ALWAYS AS (definition #>> '{spec,lang}') STORED,
    UNIQUE (problem_id, content_hash),
    CONSTRAINT judging_hash_is_sha256 CHECK (octet_length(judging_hash) = 32)
);

CREATE TABLE competitions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    description text NOT NULL DEFAULT '',
    deadline timestamptz
);

-- `secret` seeds the ranked runs; it leaves the store in job specifications only. `reveal_code`:
-- everyone who sees the board may read its submissions once the deadline has passed. Secret runs
-- have seeds of their own unless all share one (`fixed_seed`).
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
    created_at timestamptz NOT NULL DEFAULT now(),
    reveal_code boolean NOT NULL DEFAULT false,
    fixed_seed boolean NOT NULL DEFAULT false
);
CREATE UNIQUE INDEX leaderboards_name ON leaderboards (lower(name));
CREATE INDEX leaderboards_competition ON leaderboards (competition_id);
CREATE INDEX leaderboards_problem_version ON leaderboards (problem_version_id);

-- `authors` counts the rows of `standings`; the functions that write those update it. `version`: how
-- often the ranking has changed, so that a cache can tell whether a page is still correct: a row was
-- added or removed, or a duel has changed `leads`. `outdated` counts authors without a
-- row whose scores are of an earlier version of the problem.
CREATE TABLE leaderboard_devices (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    device text NOT NULL,
    position integer NOT NULL,
    authors integer NOT NULL DEFAULT 0 CHECK (authors >= 0),
    version bigint NOT NULL DEFAULT 0,
    outdated integer NOT NULL DEFAULT 0 CHECK (outdated >= 0),
    PRIMARY KEY (leaderboard_id, device)
);

CREATE TABLE rate_limits (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    category limit_category NOT NULL,
    max_per_hour integer NOT NULL CHECK (max_per_hour >= 0),
    PRIMARY KEY (leaderboard_id, category)
);

-- Invites are made many at once, for the same boards.
CREATE TABLE invite_batches (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_by bigint REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX invite_batches_creator ON invite_batches (created_by);
CREATE TABLE invite_boards (
    batch_id bigint NOT NULL REFERENCES invite_batches ON DELETE CASCADE,
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    PRIMARY KEY (batch_id, leaderboard_id)
);
CREATE INDEX invite_boards_board ON invite_boards (leaderboard_id);

-- The person who claimed an invite is a member of its boards, as long as the invite exists.
CREATE TABLE invites (
    code text PRIMARY KEY CHECK (length(code) BETWEEN 8 AND 64),
    batch_id bigint NOT NULL REFERENCES invite_batches ON DELETE CASCADE,
    user_id bigint REFERENCES users ON DELETE SET NULL,
    claimed_at timestamptz,
    CONSTRAINT a_claim_has_a_time CHECK (user_id IS NULL OR claimed_at IS NOT NULL)
);
CREATE INDEX invites_batch ON invites (batch_id);
CREATE INDEX invites_user ON invites (user_id);

-- Submissions, their events, and what organisers decided about them.

CREATE TYPE submission_mode AS ENUM ('test', 'benchmark', 'profile', 'leaderboard');
CREATE TYPE review_state AS ENUM ('clear', 'held', 'refused');

CREATE TABLE sources (
    sha256 bytea PRIMARY KEY CHECK (octet_length(sha256) = 32),
    content text NOT NULL
);

-- A submission's state is derived from its runs. The author can read `review_reason`.
-- `reviewed_at`: a person has looked at it, so it isn't held again. `code_sha256` is the digest of the
-- source without white space and comments; it is known once a ranked run was accepted. Until then
-- the source is compared as it is.
CREATE TABLE submissions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL REFERENCES leaderboards,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    author_id bigint NOT NULL REFERENCES users,
    source_sha256 bytea NOT NULL REFERENCES sources,
    file_name text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 255),
    mode submission_mode NOT NULL,
    review review_state NOT NULL DEFAULT 'clear',
    created_at timestamptz NOT NULL DEFAULT now(),
    review_reason text,
    reviewed_at timestamptz,
    code_sha256 bytea CHECK (octet_length(code_sha256) = 32),
    CONSTRAINT review_names_its_reason CHECK (review = 'clear' OR review_reason IS NOT NULL)
);
CREATE INDEX submissions_author ON submissions (author_id, id DESC);
CREATE INDEX submissions_board_author ON submissions (leaderboard_id, author_id, id DESC);
CREATE INDEX submissions_source ON submissions (source_sha256);
CREATE INDEX submissions_code ON submissions (leaderboard_id, author_id, code_sha256, id)
    WHERE code_sha256 IS NOT NULL;
CREATE INDEX submissions_reviewed ON submissions (leaderboard_id, author_id)
    WHERE reviewed_at IS NOT NULL;
CREATE INDEX submissions_in_review ON submissions (id) WHERE review = 'held';

-- The same table as `domain/states.py`; a test compares them.
CREATE TABLE review_transitions (
    before review_state NOT NULL,
    after review_state NOT NULL,
    PRIMARY KEY (before, after)
);
INSERT INTO review_transitions VALUES
    ('clear', 'held'), ('clear', 'refused'), ('held', 'clear'), ('held', 'refused'),
    ('refused', 'clear');

-- For organisers: what was noticed, and by which rule. It decides nothing by itself.
CREATE TABLE evidence (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    source text NOT NULL,
    rule text NOT NULL,
    severity text NOT NULL,
    detail text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (submission_id, source, rule, detail)
);

-- `id` counts within a submission. `run_id` is deleted with it, so it needs no foreign key.
CREATE TABLE events (
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    id integer NOT NULL,
    run_id bigint,
    kind text NOT NULL,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (submission_id, id)
);

-- What was submitted within the last hour to boards with a limit. Separate from `submissions`, so
-- that deleting submissions doesn't allow more.
CREATE TABLE rate_uses (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    category limit_category NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    used_at timestamptz NOT NULL
);
CREATE INDEX rate_uses_board_author ON rate_uses (leaderboard_id, author_id, category, used_at);
CREATE INDEX rate_uses_author ON rate_uses (author_id);

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

-- Each author's best eligible run per board and device.

-- `leads`: the first of those that share a rank. A row shares its leader's rank when its interval
-- overlaps the leader's, unless a duel has told it apart from a row with that rank; a rank is 1 + the
-- number of rows before the leader.
CREATE TABLE standings (
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    score_s double precision NOT NULL,
    ci_low_s double precision NOT NULL,
    ci_high_s double precision NOT NULL,
    achieved_at timestamptz NOT NULL,
    leads boolean NOT NULL,
    PRIMARY KEY (leaderboard_id, device, author_id),
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE UNIQUE INDEX standings_order
    ON standings (leaderboard_id, device, score_s, achieved_at, author_id)
    INCLUDE (leads, ci_low_s, ci_high_s, submission_id, run_id);
CREATE INDEX standings_author ON standings (author_id);
CREATE INDEX standings_submission ON standings (submission_id);
CREATE INDEX standings_run ON standings (run_id);

-- The transaction that last decided which of an author's runs counts on a board's device. Everything
-- that may change why a run isn't ranked leads to such a decision, so a cache of a list can tell by
-- these numbers whether its reasons are still true.
CREATE TABLE decisions (
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    decided_by bigint NOT NULL,
    PRIMARY KEY (author_id, leaderboard_id, device),
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE INDEX decisions_board ON decisions (leaderboard_id, device);

-- The same code can't be submitted again and again until noise favours it, also if its author has
-- deleted the first submission of it. `submission_id` is that of the deleted one; `score_s` keeps its
-- score.
CREATE TABLE withdrawn_sources (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    source_sha256 bytea NOT NULL CHECK (octet_length(source_sha256) = 32),
    judging_hash bytea NOT NULL CHECK (octet_length(judging_hash) = 32),
    device text NOT NULL,
    submission_id bigint NOT NULL,
    code_sha256 bytea CHECK (octet_length(code_sha256) = 32),
    score_s double precision,
    PRIMARY KEY (leaderboard_id, author_id, source_sha256, judging_hash, device)
);
CREATE INDEX withdrawn_sources_author ON withdrawn_sources (author_id);
CREATE INDEX withdrawn_sources_code ON withdrawn_sources (leaderboard_id, author_id, code_sha256)
    WHERE code_sha256 IS NOT NULL;

-- Whose turn it is: authors take turns on each device, however many runs each has waiting.

-- How many runs of an author wait and run on a device, and the number of their last turn. Turns are
-- numbered and not dated, so that a clock that jumps favours nobody. `last_ranked_turn`: if ranked
-- runs go first, they have turns of their own. `waits` is a separate column because, with the count
-- itself in the index's condition, every change of it needed new entries in all indexes.
CREATE SEQUENCE queue_turn_numbers;
CREATE TABLE queue_turns (
    device text NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    waiting integer NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    waiting_ranked integer NOT NULL DEFAULT 0 CHECK (waiting_ranked BETWEEN 0 AND waiting),
    running integer NOT NULL DEFAULT 0 CHECK (running >= 0),
    last_turn bigint NOT NULL DEFAULT 0,
    last_ranked_turn bigint NOT NULL DEFAULT 0,
    waits boolean NOT NULL GENERATED ALWAYS AS (waiting > 0) STORED,
    PRIMARY KEY (device, author_id)
) WITH (fillfactor = 50);
CREATE INDEX queue_turns_author ON queue_turns (author_id);
CREATE INDEX queue_turns_waiting ON queue_turns (device) WHERE waits;

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

-- Counters of a worker since its start, for the metrics.
CREATE TABLE worker_counters (
    owner text NOT NULL REFERENCES workers ON DELETE CASCADE,
    name text NOT NULL,
    label text NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (owner, name, label)
);

-- What organisers configure, and the log of what they did.

-- The one row that says whether submissions are accepted.
CREATE TABLE platform (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    accepts_jobs boolean NOT NULL DEFAULT true,
    reason text NOT NULL DEFAULT '',
    CONSTRAINT only_a_pause_has_a_reason CHECK (NOT accepts_jobs OR reason = '')
);
INSERT INTO platform DEFAULT VALUES;

-- Who did what, and why.
CREATE TABLE audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor_id bigint REFERENCES users ON DELETE SET NULL,
    actor text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    detail jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_log_subject ON audit_log (subject, id DESC);
CREATE INDEX audit_log_actor ON audit_log (actor_id);

-- The key of exported pseudonyms, if the configuration names none, and when the last daily export
-- began.
CREATE TABLE exports (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    key bytea NOT NULL CHECK (octet_length(key) = 32),
    daily_at timestamptz
);
