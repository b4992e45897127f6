-- name: page
SELECT * FROM standings_page(
    %(leaderboard_id)s, %(device)s, %(limit)s,
    %(position)s, %(score_s)s, coalesce(%(achieved_at)s::timestamptz, '-infinity'), %(author_id)s,
    %(skip)s
);

-- name: submissions_of
SELECT count(*) AS submissions FROM eligible_runs
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s AND author_id = %(author_id)s;

-- name: refresh
SELECT refresh_standing(%(leaderboard_id)s, %(device)s, %(author_id)s);

-- name: rebuild
SELECT rebuild_standings();
