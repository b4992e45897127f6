-- name: add_key
INSERT INTO exports (key) VALUES (%(key)s) ON CONFLICT DO NOTHING;

-- name: key
SELECT key FROM exports;

-- It is due again a day after `daily_at`, so while it is made in three hours: whoever makes it may
-- be killed.
-- name: claim_daily
UPDATE exports SET daily_at = now() - interval '21 hours'
WHERE daily_at IS NULL OR daily_at NOT BETWEEN now() - interval '1 day' AND now()
RETURNING one;

-- name: daily_done
UPDATE exports SET daily_at = now();

-- name: try_again
UPDATE exports SET daily_at = now() - interval '23 hours';

-- name: submissions
SELECT s.id AS submission_id, b.name AS board, c.name AS competition, p.name AS problem,
    s.problem_version_id AS problem_version, s.author_id, s.mode, s.review, s.created_at,
    x.content AS code
FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
LEFT JOIN competitions c ON c.id = b.competition_id
JOIN problem_versions v ON v.id = s.problem_version_id
JOIN problems p ON p.id = v.problem_id
JOIN sources x ON x.sha256 = s.source_sha256
WHERE s.leaderboard_id = ANY(%(ids)s) AND s.id > %(after_id)s
ORDER BY s.id LIMIT %(limit)s;

-- name: runs
SELECT r.submission_id, r.device, r.secret, r.state,
    shown_verdict(r.secret, r.fault, r.verdict) AS verdict, r.score_s, r.ci_low_s, r.ci_high_s,
    i.ci_low_s AS ranked_low_s, i.ci_high_s AS ranked_high_s, r.unverified, r.created_at,
    r.started_at, r.finished_at
FROM runs r LEFT JOIN score_intervals i ON i.run_id = r.id
WHERE r.submission_id = ANY(%(submission_ids)s)
ORDER BY r.submission_id, r.device, r.secret, r.id;
