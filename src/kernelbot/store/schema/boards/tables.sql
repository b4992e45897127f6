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
