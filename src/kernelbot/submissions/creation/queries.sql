-- Always one row, also if there is no such board.
-- name: facts
SELECT p.accepts_jobs, p.reason, b.id, b.name, b.problem_version_id, b.creator_id, b.visibility,
    b.deadline, b.visibility = 'closed' AND is_member(b.id, %(author_id)s) AS invited,
    (
        SELECT array_agg(d.device ORDER BY d.position) FROM leaderboard_devices d
        WHERE d.leaderboard_id = b.id
    ) AS devices, l.max_per_hour, v.lang, b.refuse_unavailable,
    takes_tries(b, v) AS try_on_cpu,
    coalesce(r.said, '') AS recurring_data
FROM platform p
LEFT JOIN leaderboards b ON lower(b.name) = lower(%(name)s)
LEFT JOIN problem_versions v ON v.id = b.problem_version_id
LEFT JOIN recurring_problems r ON r.judging_hash = v.judging_hash
LEFT JOIN rate_limits l ON l.leaderboard_id = b.id AND l.category = %(category)s;

-- name: add
SELECT * FROM add_submission(
    %(leaderboard_id)s, %(problem_version_id)s, %(author_id)s, %(source_sha256)s, %(code)s,
    %(file_name)s, %(mode)s, %(devices)s, %(ranked_first)s, %(fresh_s)s, %(limited)s,
    %(waiting_limit)s::integer, %(code_sha256)s
);
