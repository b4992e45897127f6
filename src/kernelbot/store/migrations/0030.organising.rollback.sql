DROP FUNCTION rebuild_board_standings;
CREATE OR REPLACE VIEW eligible_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    coalesce(r.ci_low_s, r.score_s) AS ci_low_s,
    coalesce(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at
FROM submissions s
JOIN users u ON u.id = s.author_id AND u.banned_at IS NULL
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.submission_id = s.id AND c.state = 'cancelled');
ALTER TABLE leaderboards DROP COLUMN reveal_code;
ALTER TABLE competitions DROP COLUMN deadline, DROP COLUMN description;
ALTER TABLE problem_versions DROP COLUMN judging_hash;
