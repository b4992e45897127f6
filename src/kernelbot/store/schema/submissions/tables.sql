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
