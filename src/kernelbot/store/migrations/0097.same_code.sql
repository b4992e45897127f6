-- depends: 0060.standing_runs 0071.withdrawn 0096.rejudge_owner
-- The same code counts once, also where white space or a comment was changed. `code_sha256` is of what
-- is left without those; it is known once a ranked run was accepted, and of what was accepted before
-- this migration once it is rejudged. Until then such a source is compared as it is.
ALTER TABLE submissions
    ADD COLUMN code_sha256 bytea CHECK (octet_length(code_sha256) = 32);
ALTER TABLE withdrawn_sources
    ADD COLUMN code_sha256 bytea CHECK (octet_length(code_sha256) = 32);

-- What may be ranked, of any version of the problem: as it was, with the code.
CREATE OR REPLACE VIEW rankable_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    coalesce(r.ci_low_s, r.score_s) AS ci_low_s,
    coalesce(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at,
    s.source_sha256,
    r.rejudge_id,
    coalesce(j.created_at, s.created_at) AS measured_at,
    measured.judging_hash,
    s.code_sha256
FROM submissions s
JOIN users u ON u.id = s.author_id AND u.banned_at IS NULL
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
LEFT JOIN rejudges j ON j.id = r.rejudge_id
JOIN problem_versions measured
    ON measured.id = coalesce(j.problem_version_id, s.problem_version_id)
JOIN leaderboard_devices offered
    ON offered.leaderboard_id = s.leaderboard_id AND offered.device = r.device
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND (r.rejudge_id IS NULL OR j.finished_at IS NOT NULL)
    AND NOT EXISTS (
        SELECT 1 FROM runs c
        WHERE c.submission_id = s.id AND c.state = 'cancelled' AND c.rejudge_id IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM runs l
        JOIN rejudges k ON k.id = l.rejudge_id AND k.finished_at IS NOT NULL
        WHERE l.submission_id = s.id AND l.device = r.device
            AND l.rejudge_id > coalesce(r.rejudge_id, 0)
            AND l.state = 'finished' AND (l.fault IS NULL OR l.fault = 'author')
    );

-- What counts. Nothing else in the system decides this.
CREATE OR REPLACE VIEW eligible_runs AS
SELECT r.leaderboard_id, r.device, r.author_id, r.run_id, r.submission_id, r.score_s,
    r.ci_low_s, r.ci_high_s, r.achieved_at, r.source_sha256, r.rejudge_id, r.measured_at,
    r.code_sha256
FROM rankable_runs r
JOIN leaderboards b ON b.id = r.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = r.judging_hash
WHERE NOT EXISTS (
    SELECT 1 FROM withdrawn_sources w
    WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
        AND (w.source_sha256 = r.source_sha256 OR w.code_sha256 = r.code_sha256)
        AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
);

-- In the order of measuring. What is grouped by is named first, so that asking for one author or
-- one board reads no others.
CREATE OR REPLACE VIEW standing_runs AS
SELECT leaderboard_id, device, author_id, (best).run_id, (best).submission_id, (best).score_s,
    (best).ci_low_s, (best).ci_high_s, (best).achieved_at
FROM (
    SELECT leaderboard_id, device, author_id,
        best_run_of(run, again ORDER BY measured_at, achieved_at, run_id) AS best
    FROM (
        SELECT run.leaderboard_id, run.device, run.author_id, run.measured_at, run.achieved_at,
            run.run_id, run,
            row_number() OVER (
                PARTITION BY run.leaderboard_id, run.device, run.author_id, run.source_sha256
                ORDER BY run.measured_at, run.achieved_at, run.run_id
            ) > 1 OR row_number() OVER (
                PARTITION BY run.leaderboard_id, run.device, run.author_id,
                    coalesce(run.code_sha256, run.source_sha256)
                ORDER BY run.measured_at, run.achieved_at, run.run_id
            ) > 1 AS again
        FROM eligible_runs run
    ) runs
    GROUP BY leaderboard_id, device, author_id
) authors;
