-- name: lock
SELECT s.id, s.review, s.review_reason, s.leaderboard_id, s.author_id, b.name AS board, b.creator_id
FROM submissions s JOIN leaderboards b ON b.id = s.leaderboard_id
WHERE s.id = %(submission_id)s
FOR UPDATE OF s;

-- name: decide
UPDATE submissions SET review = %(review)s, review_reason = %(reason)s, reviewed_at = now()
WHERE id = %(submission_id)s;

-- A person's decision is final: what was released isn't held again.
-- name: hold
UPDATE submissions SET review = 'held', review_reason = %(reason)s
WHERE id = %(submission_id)s AND review = 'clear' AND reviewed_at IS NULL;

-- name: refuse_by_rule
UPDATE submissions SET review = 'refused', review_reason = %(reason)s
WHERE id = %(submission_id)s AND review <> 'refused' AND reviewed_at IS NULL;

-- The lock under which rankings change, so that of two absurd scores each sees the other. It is a
-- statement of its own, since a statement that waited still sees the state from before.
-- name: lock_ranking
SELECT 1 AS locked FROM leaderboard_devices
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s FOR NO KEY UPDATE;

-- The author's first score is read only if there is nothing else. Which submissions were reviewed is
-- a subquery: as one more table to join, the planner thinks four times as long, under the lock.
-- name: trusted
WITH seen AS MATERIALIZED (
    (
        SELECT score_s, 'others' AS source FROM standings
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
            AND author_id <> %(author_id)s
        ORDER BY score_s LIMIT 1
    )
    UNION ALL
    (
        SELECT score_s, 'reviewed' FROM eligible_runs
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
            AND author_id = %(author_id)s AND submission_id = ANY(ARRAY(
                SELECT id FROM submissions
                WHERE leaderboard_id = %(leaderboard_id)s AND author_id = %(author_id)s
                    AND reviewed_at IS NOT NULL
            ))
        ORDER BY score_s LIMIT 1
    )
), first AS (
    (
        SELECT score_s, submission_id FROM eligible_runs
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
            AND author_id = %(author_id)s AND submission_id <> %(submission_id)s
            AND NOT EXISTS (SELECT 1 FROM seen)
        ORDER BY submission_id LIMIT 1
    )
    UNION ALL
    (
        SELECT w.score_s, w.submission_id FROM withdrawn_sources w
        JOIN leaderboards b ON b.id = w.leaderboard_id
        JOIN problem_versions v ON v.id = b.problem_version_id AND v.judging_hash = w.judging_hash
        WHERE w.leaderboard_id = %(leaderboard_id)s AND w.device = %(device)s
            AND w.author_id = %(author_id)s AND w.score_s IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM seen)
        ORDER BY w.submission_id LIMIT 1
    )
)
(SELECT score_s, source FROM seen ORDER BY score_s LIMIT 1)
UNION ALL
(SELECT score_s, 'first' FROM first ORDER BY submission_id LIMIT 1);

-- name: add_evidence
INSERT INTO evidence (submission_id, source, rule, severity, detail)
VALUES (%(submission_id)s, %(source)s, %(rule)s, %(severity)s, %(detail)s)
ON CONFLICT DO NOTHING;

-- name: evidence
SELECT submission_id, source, rule, severity, detail, created_at FROM evidence
WHERE submission_id = ANY(%(submission_ids)s) ORDER BY submission_id, id;

-- name: held
SELECT s.id FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
WHERE s.review = 'held'
    AND (%(everything)s OR b.creator_id = %(viewer_id)s)
    AND (%(board)s::text IS NULL OR lower(b.name) = lower(%(board)s::text))
ORDER BY s.id LIMIT %(limit)s;
