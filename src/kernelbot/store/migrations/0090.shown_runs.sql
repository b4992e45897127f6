-- depends: 0041.standings_version 0050.measured-again
-- A submission's own runs as they are shown: with the score of the last rejudge that measured it
-- again, and the version of the ranking in which it is its author's best.
-- What stands in a ranking is a secret run; for others the CASE asks no index.
CREATE VIEW shown_runs AS
SELECT r.id, r.submission_id, r.device, r.secret, r.state, r.verdict, coalesce((
        SELECT again.score_s FROM runs again
        JOIN rejudges j ON j.id = again.rejudge_id AND j.finished_at IS NOT NULL
        WHERE again.submission_id = r.submission_id AND again.device = r.device AND r.secret
            AND again.score_s IS NOT NULL
        ORDER BY again.rejudge_id DESC LIMIT 1
    ), r.score_s) AS score_s, r.attempts, r.created_at, r.started_at, r.finished_at, r.fault, r.message,
    d.version AS best_of_version
FROM runs r
LEFT JOIN standings s
    ON s.submission_id = CASE WHEN r.secret THEN r.submission_id END AND s.device = r.device
LEFT JOIN leaderboard_devices d
    ON d.leaderboard_id = s.leaderboard_id AND d.device = s.device
WHERE r.rejudge_id IS NULL;
