-- depends: 0050.measured-again
-- The same code isn't tried again until the noise is kind, also where its author has deleted the
-- first try. `submission_id` is that try's, which is gone.
CREATE TABLE withdrawn_sources (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    source_sha256 bytea NOT NULL CHECK (octet_length(source_sha256) = 32),
    judging_hash bytea NOT NULL CHECK (octet_length(judging_hash) = 32),
    device text NOT NULL,
    submission_id bigint NOT NULL,
    PRIMARY KEY (leaderboard_id, author_id, source_sha256, judging_hash, device)
);
CREATE INDEX withdrawn_sources_author ON withdrawn_sources (author_id);

-- What counts. Nothing else in the system decides this.
CREATE OR REPLACE VIEW eligible_runs AS
SELECT r.leaderboard_id, r.device, r.author_id, r.run_id, r.submission_id, r.score_s,
    r.ci_low_s, r.ci_high_s, r.achieved_at, r.source_sha256, r.rejudge_id, r.measured_at
FROM rankable_runs r
JOIN leaderboards b ON b.id = r.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = r.judging_hash
WHERE NOT EXISTS (
    SELECT 1 FROM withdrawn_sources w
    WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
        AND w.source_sha256 = r.source_sha256 AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
);
