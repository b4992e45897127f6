-- Which runs count, and which of them is an author's standing.

-- Runs that may be ranked, of any version of the problem. A finished rejudge's measurement replaces
-- earlier ones, unless it failed through our fault. The harness must be that of the problem: on a
-- board that is judged natively no script's result is ranked. The scatter between judgings is in
-- the interval. `measured_at`: what waited while others were measured again is judged after that, and
-- competes with them; the runs of a rejudge have one time, that of its beginning.
CREATE VIEW rankable_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    widened_low(r.score_s, coalesce(r.ci_low_s, r.score_s), r.scatter) AS ci_low_s,
    widened_high(r.score_s, coalesce(r.ci_high_s, r.score_s), r.scatter) AS ci_high_s,
    s.created_at AS achieved_at,
    s.source_sha256,
    r.rejudge_id,
    coalesce(j.created_at, r.finished_at) AS measured_at,
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
    AND r.unverified = (measured.harness = 'script')
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

-- The 95 % interval of each ranked run's score as `rankable_runs` has it, and what it consists of: the
-- run's own, which is of one judging, and the scatter between judgings. No row: there is no interval.
CREATE VIEW score_intervals AS
SELECT id AS run_id, widened_low(score_s, ci_low_s, scatter) AS ci_low_s,
    widened_high(score_s, ci_high_s, scatter) AS ci_high_s, ci_low_s AS own_low_s,
    ci_high_s AS own_high_s, scatter, scatter_pairs
FROM runs WHERE secret AND score_s IS NOT NULL AND ci_low_s IS NOT NULL AND ci_high_s IS NOT NULL;

-- The runs that count. Nothing else in the system decides this. What was refused or is held doesn't
-- count, nor does the same code that its author sent later, on any device. Source and code are two
-- conditions: with an OR every run of an author would be compared with all that they have withdrawn.
CREATE VIEW eligible_runs AS
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
        AND w.source_sha256 = r.source_sha256 AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
) AND NOT EXISTS (
    SELECT 1 FROM withdrawn_sources w
    WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
        AND w.code_sha256 = r.code_sha256 AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
) AND NOT EXISTS (
    SELECT 1 FROM submissions t
    WHERE t.leaderboard_id = r.leaderboard_id AND t.author_id = r.author_id
        AND t.source_sha256 = r.source_sha256 AND t.review <> 'clear' AND t.mode = 'leaderboard'
        AND t.id < r.submission_id
) AND NOT EXISTS (
    SELECT 1 FROM submissions t
    WHERE t.leaderboard_id = r.leaderboard_id AND t.author_id = r.author_id
        AND t.code_sha256 = r.code_sha256 AND t.review <> 'clear' AND t.mode = 'leaderboard'
        AND t.id < r.submission_id
);

-- The better of two runs. A rejudge's measurement replaces the earlier one; the same source `again`
-- doesn't count; another run replaces the best one if its interval, as wide as the author's tries make
-- it (`strictness`), is wholly below. `beaten` isn't
-- NULL: what has happened is that the run won a duel, which replaces that run and no other.
CREATE FUNCTION better_run(
    best eligible_runs, run eligible_runs, again boolean, tried bigint, beaten bigint
) RETURNS eligible_runs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF (CASE
        WHEN beaten IS NOT NULL THEN best.run_id = beaten AND NOT again
        ELSE (run.rejudge_id IS NOT NULL AND run.rejudge_id IS DISTINCT FROM best.rejudge_id)
            OR (NOT again AND (best.run_id IS NULL
                OR run.score_s * (run.ci_high_s / run.score_s) ^ strictness(tried) < best.ci_low_s))
    END) THEN
        RETURN run;
    END IF;
    RETURN best;
END;
$$;

CREATE AGGREGATE best_run_of(
    run eligible_runs, again boolean, tried bigint, beaten bigint
) (
    SFUNC = better_run, STYPE = eligible_runs
);

-- The runs that count, whether the same code was sent before, and the how manieth try of its author
-- each is, with those that were withdrawn. Of the same code the first one sent counts, in whatever order
-- they were measured: else an author could delete whichever was measured first. Before all of these
-- comes what was measured again.
CREATE VIEW counted_runs AS
SELECT run.leaderboard_id, run.device, run.author_id, run.measured_at, run.achieved_at, run.run_id,
    run.submission_id, run.score_s, run,
    row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id, run.source_sha256
        ORDER BY run.rejudge_id IS NULL, run.submission_id
    ) > 1 OR row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id,
            coalesce(run.code_sha256, run.source_sha256)
        ORDER BY run.rejudge_id IS NULL, run.submission_id
    ) > 1 AS again,
    row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id
        ORDER BY run.measured_at, run.achieved_at, run.run_id
    ) + (
        SELECT count(*) FROM withdrawn_sources w
        WHERE w.leaderboard_id = run.leaderboard_id AND w.author_id = run.author_id
            AND w.device = run.device
    ) AS tried
FROM eligible_runs run;

-- Each author's best run, found in the order of what happened: a run was measured, or it won a duel.
-- A ranking is rebuilt from it in one pass over the board's runs, and one author's standing is a row
-- of it. The columns it is grouped by come first, so that a query for one author or one board reads
-- no others.
CREATE VIEW standing_runs AS
SELECT leaderboard_id, device, author_id, (best).run_id, (best).submission_id, (best).score_s,
    (best).ci_low_s, (best).ci_high_s, (best).achieved_at
FROM (
    SELECT leaderboard_id, device, author_id, best_run_of(
        run, again, tried, beaten ORDER BY happened_at, achieved_at, run_id, beaten NULLS FIRST
    ) AS best
    FROM counted_runs
    CROSS JOIN LATERAL (
        SELECT measured_at AS happened_at, NULL::bigint AS beaten
        UNION ALL
        SELECT ended_at, opponent_run_id FROM duels
        WHERE duels.run_id = counted_runs.run_id AND wins
    ) happened
    GROUP BY leaderboard_id, device, author_id
) authors;

-- The devices on which it may decide an author's standing what becomes of a submission: where it ran,
-- and where the same code ran that was sent later, which isn't ranked if the submission is refused.
CREATE FUNCTION devices_decided_by(_submission bigint) RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT DISTINCT r.device
    FROM submissions s
    JOIN submissions t ON t.leaderboard_id = s.leaderboard_id AND t.author_id = s.author_id
        AND t.id >= s.id
        AND (t.id = s.id OR t.source_sha256 = s.source_sha256 OR t.code_sha256 = s.code_sha256)
    JOIN runs r ON r.submission_id = t.id
    WHERE s.id = _submission;
$$;
