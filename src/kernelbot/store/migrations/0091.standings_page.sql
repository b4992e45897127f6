-- depends: 0041.standings_version
-- A stretch of a ranking, counted from a row whose position is known: `_skip` rows past the one of
-- this score, time and author, before which there are `_before`. With the version of the ranking
-- that it is a stretch of, so that whoever counted from a row of another one can tell.
-- A function, because its plan is made once per connection: for a limit that isn't known the
-- planner reckons with a tenth of the ranking, and would plan each page anew instead. The names
-- are looked up one by one for the same reason: it would read all users for its tenth.
CREATE FUNCTION standings_page(
    _board bigint, _device text, _limit bigint,
    _before bigint, _score_s double precision, _at timestamptz, _author bigint, _skip bigint
) RETURNS TABLE (
    version bigint, rank bigint, author_id bigint, author text, score_s double precision,
    ci_low_s double precision, ci_high_s double precision, submission_id bigint, file_name text,
    achieved_at timestamptz, unverified boolean
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH page AS (
        SELECT author_id, run_id, submission_id, score_s, achieved_at, leads,
            _before + _skip + row_number() OVER (ORDER BY score_s, achieved_at, author_id) AS position
        FROM (
            SELECT * FROM standings
            WHERE leaderboard_id = _board AND device = _device
                AND (score_s, achieved_at, author_id) >= (_score_s, _at, _author)
            ORDER BY score_s, achieved_at, author_id
            LIMIT _limit OFFSET _skip
        ) rows
    ), head AS (
        -- Whoever leads the first row stands before it by as many as lie between them.
        SELECT first.position - (
            SELECT count(*) FROM standings between_them
            WHERE between_them.leaderboard_id = _board AND between_them.device = _device
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    >= (leader.score_s, leader.achieved_at, leader.author_id)
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    < (first.score_s, first.achieved_at, first.author_id)
        ) AS rank
        FROM (SELECT * FROM page ORDER BY position LIMIT 1) first
        CROSS JOIN LATERAL (
            SELECT score_s, achieved_at, author_id FROM standings
            WHERE leaderboard_id = _board AND device = _device AND leads
                AND (score_s, achieved_at, author_id)
                    <= (first.score_s, first.achieved_at, first.author_id)
            ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
        ) leader
    )
    SELECT d.version,
        coalesce(
            max(CASE WHEN page.leads THEN page.position END) OVER (ORDER BY page.position),
            head.rank
        ),
        page.author_id, u.name, page.score_s, r.ci_low_s, r.ci_high_s, page.submission_id,
        s.file_name, page.achieved_at, r.unverified
    FROM page
    CROSS JOIN (SELECT rank FROM head LIMIT 1) head
    CROSS JOIN LATERAL (SELECT name FROM users WHERE id = page.author_id LIMIT 1) u
    CROSS JOIN LATERAL (SELECT file_name FROM submissions WHERE id = page.submission_id LIMIT 1) s
    CROSS JOIN LATERAL (
        SELECT ci_low_s, ci_high_s, unverified FROM runs WHERE id = page.run_id LIMIT 1
    ) r
    JOIN leaderboard_devices d ON d.leaderboard_id = _board AND d.device = _device
    ORDER BY page.position;
END;
$$;
