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
