-- name: lock
SELECT s.id, s.review, s.review_reason, s.leaderboard_id, s.author_id, b.name AS board, b.creator_id
FROM submissions s JOIN leaderboards b ON b.id = s.leaderboard_id
WHERE s.id = %(submission_id)s
FOR UPDATE OF s;

-- name: decide
UPDATE submissions SET review = %(review)s, review_reason = %(reason)s, reviewed_at = now()
WHERE id = %(submission_id)s;

-- A person's decision stands: what was released isn't held again.
-- name: hold
UPDATE submissions SET review = 'held', review_reason = %(reason)s
WHERE id = %(submission_id)s AND review = 'clear' AND reviewed_at IS NULL;

-- name: refuse_by_rule
UPDATE submissions SET review = 'refused', review_reason = %(reason)s
WHERE id = %(submission_id)s AND review <> 'refused' AND reviewed_at IS NULL;

-- The lock is the one that rankings change under, so that of two absurd scores each sees the other.
-- name: best
SELECT (
    SELECT min(score_s) FROM standings
    WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
        AND submission_id <> %(submission_id)s
) AS best_s
FROM leaderboard_devices
WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
FOR NO KEY UPDATE;

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
