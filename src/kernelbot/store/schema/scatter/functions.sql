-- How far the scores of one kernel lie apart from one judging to the next, and what that does to an
-- interval. docs/explanation/trusting-a-number.md has the method.

-- The standard deviation of ln(score) between judgings on a device that the intervals of single
-- judgings don't explain, as the last runs have shown it: of code that an author had judged again.
-- Each such judging is compared with all earlier ones of that code: half of a squared difference
-- estimates the whole variance, the mean of what the two intervals say of themselves is taken off,
-- and the mean over the earlier ones counts. Differences are cut at 0.35, so that one disturbed
-- judging decides little, and an author's newest eight repeated judgings count, so that nobody can
-- make up the figure alone. Judgings whose own interval is wider than 10 % say nothing of others.
-- Twelve at 5 % are assumed until others were seen; those of a device are assumed of a board in the
-- same way. One author shows at most four times the variance that the others and what is assumed
-- show, and takes off a quarter of what is assumed at most; who is banned and what is held or refused
-- shows nothing. A board has a third of its device's deviation at least. So few don't know a deviation
-- well: what is answered is larger by Student's t over 1.96, which is 1 + 1.21 / n for n of them.
-- `pairs`: how many the device has shown, on all boards.
CREATE FUNCTION judging_scatter(
    _board bigint, _device text, OUT scatter double precision, OUT pairs bigint
) LANGUAGE sql STABLE AS $$
    WITH lately AS MATERIALIZED (
        SELECT id, submission_id, rejudge_id, finished_at, ln(score_s) AS score,
            (ln(greatest(coalesce(ci_high_s, score_s), score_s)
                / greatest(least(coalesce(ci_low_s, score_s), score_s), score_s * 1e-6))
                / 3.92) ^ 2 AS own
        FROM runs
        WHERE device = _device AND state = 'finished' AND secret AND score_s IS NOT NULL
        ORDER BY finished_at DESC LIMIT 1000
    ), judged AS MATERIALIZED (
        SELECT s.leaderboard_id, s.author_id, l.score, l.own,
            rank() OVER (
                ORDER BY s.leaderboard_id, s.author_id, v.judging_hash,
                    coalesce(s.code_sha256, s.source_sha256)
            ) AS code,
            row_number() OVER (ORDER BY l.finished_at, l.id) AS number
        FROM lately l
        JOIN submissions s ON s.id = l.submission_id
        LEFT JOIN rejudges j ON j.id = l.rejudge_id
        JOIN problem_versions v ON v.id = coalesce(j.problem_version_id, s.problem_version_id)
        JOIN users u ON u.id = s.author_id
        WHERE l.own <= (ln(1.1 / 0.9) / 3.92) ^ 2 AND s.review = 'clear' AND u.banned_at IS NULL
    ), repeated AS (
        SELECT *, row_number() OVER (PARTITION BY author_id ORDER BY number DESC) AS newest,
            row_number() OVER (
                PARTITION BY author_id, leaderboard_id ORDER BY number DESC
            ) AS newest_there
        FROM (SELECT *, min(number) OVER (PARTITION BY code) AS earliest FROM judged) AS every
        WHERE number > earliest
    ), compared AS (
        SELECT r.author_id, r.leaderboard_id, r.newest, r.newest_there,
            avg(least(abs(r.score - e.score), 0.35) ^ 2 / 2 - (r.own + e.own) / 2) AS variance
        FROM repeated r JOIN judged e ON e.code = r.code AND e.number < r.number
        WHERE r.newest <= 8 OR (r.leaderboard_id = _board AND r.newest_there <= 8)
        GROUP BY r.number, r.author_id, r.leaderboard_id, r.newest, r.newest_there
    ), by_author AS (
        SELECT count(*) FILTER (WHERE newest <= 8) AS pairs,
            coalesce(sum(variance) FILTER (WHERE newest <= 8), 0) AS variance,
            count(*) FILTER (WHERE leaderboard_id = _board AND newest_there <= 8) AS pairs_there,
            coalesce(
                sum(variance) FILTER (WHERE leaderboard_id = _board AND newest_there <= 8), 0
            ) AS variance_there
        FROM compared GROUP BY author_id
    ), beside AS (
        SELECT *, 4 * (0.03 + sum(greatest(variance, 0)) OVER () - greatest(variance, 0))
            / (12 + sum(pairs) OVER () - pairs) AS most
        FROM by_author
    ), seen AS (
        SELECT coalesce(sum(pairs), 0)::bigint AS pairs,
            coalesce(sum(greatest(least(variance, pairs * most), -0.0075)), 0) AS variance,
            coalesce(sum(pairs_there), 0) AS pairs_there,
            coalesce(
                sum(greatest(least(variance_there, pairs_there * most), -0.0075)), 0
            ) AS variance_there
        FROM beside
    ), everywhere AS (
        SELECT greatest((12 * 0.05 ^ 2 + seen.variance) / (12 + seen.pairs), 0) AS variance FROM seen
    )
    SELECT (1 + 1.21 / (12 + seen.pairs_there)) * sqrt(greatest(
        (12 * everywhere.variance + seen.variance_there) / (12 + seen.pairs_there),
        everywhere.variance / 9
    ))::double precision, seen.pairs
    FROM seen, everywhere
$$;

-- The ends of a score's 95 % interval with the scatter between judgings: distances in ln are added as
-- squares. `ranking/rules.py` says the same of what isn't stored; a test compares them.
CREATE FUNCTION widened_low(
    _score_s double precision, _low_s double precision, _scatter double precision
) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN _scatter = 0 THEN _low_s ELSE _score_s * exp(-sqrt(
        ln(_score_s / greatest(least(_low_s, _score_s), _score_s * 1e-6)) ^ 2
            + (1.96 * _scatter) ^ 2
    )) END
$$;
CREATE FUNCTION widened_high(
    _score_s double precision, _high_s double precision, _scatter double precision
) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN _scatter = 0 THEN _high_s ELSE _score_s * exp(sqrt(
        ln(greatest(_high_s, _score_s) / _score_s) ^ 2 + (1.96 * _scatter) ^ 2
    )) END
$$;

-- By how much an interval of an author's `_tried`th try is wider than one of 95 %: the share of errors
-- that is allowed in all tries together is divided among them, each gets 1 / _tried^2 of that of the
-- first. So whoever tries often enough isn't lucky once.
CREATE FUNCTION strictness(_tried bigint) RETURNS double precision LANGUAGE sql IMMUTABLE AS $$
    SELECT sqrt(1 + 4 * ln(_tried::double precision) / 1.96 ^ 2)
$$;
