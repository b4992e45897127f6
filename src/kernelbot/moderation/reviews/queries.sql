-- No stronger: else a ranking that is written meanwhile would wait, as it refers to the submission.
-- name: lock
SELECT review FROM submissions WHERE id = %(submission_id)s FOR NO KEY UPDATE;

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

-- Before their rankings, as a decision does.
-- name: lock_submissions
SELECT 1 AS locked FROM submissions WHERE id = ANY(%(submission_ids)s) ORDER BY id FOR NO KEY UPDATE;

-- The lock under which rankings change, so that of two absurd scores each sees the other: on the device,
-- and on all others where holding them changes something, in the order in which that is written. It is a
-- statement of its own, since a statement that waited still sees the state from before.
-- name: lock_rankings
SELECT 1 AS locked FROM leaderboard_devices
WHERE leaderboard_id = %(leaderboard_id)s AND (device = %(device)s OR device IN (
    SELECT d.device FROM unnest(%(submission_ids)s::bigint[]) s(id)
    CROSS JOIN LATERAL devices_decided_by(s.id) d(device)
))
ORDER BY device FOR NO KEY UPDATE;

-- What is known to be right, and what a person has released; without either the best of the others.
-- Which submissions were reviewed is a subquery: as one more table to join, the planner thinks four
-- times as long, under the lock.
-- name: trusted
WITH right_one AS MATERIALIZED (
    (
        SELECT k.score_s, 'known_right' AS source FROM known_right k
        JOIN leaderboards b ON b.id = k.leaderboard_id
        JOIN problem_versions current ON current.id = b.problem_version_id
        JOIN problem_versions v
            ON v.id = k.problem_version_id AND v.judging_hash = current.judging_hash
        WHERE k.leaderboard_id = %(leaderboard_id)s AND k.device = %(device)s
            AND k.score_s IS NOT NULL
        ORDER BY k.score_s LIMIT 1
    )
    UNION ALL
    (
        SELECT score_s, 'reviewed' FROM eligible_runs
        WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
            AND submission_id = ANY(ARRAY(
                SELECT id FROM submissions
                WHERE leaderboard_id = %(leaderboard_id)s AND reviewed_at IS NOT NULL
            ))
        ORDER BY score_s LIMIT 1
    )
)
(SELECT score_s, source FROM right_one ORDER BY score_s LIMIT 1)
UNION ALL
(
    SELECT score_s, 'others' FROM standings
    WHERE leaderboard_id = %(leaderboard_id)s AND device = %(device)s
        AND author_id <> %(author_id)s AND NOT EXISTS (SELECT 1 FROM right_one)
    ORDER BY score_s LIMIT 1
);

-- name: add_evidence
INSERT INTO evidence (submission_id, source, rule, severity, detail)
VALUES (%(submission_id)s, %(source)s, %(rule)s, %(severity)s, %(detail)s)
ON CONFLICT DO NOTHING;

-- The ids are a subquery, so that the plan is kept: else one is made each time, which costs six times as
-- much as to read the rows.
-- name: evidence
SELECT submission_id, source, rule, severity, detail, created_at FROM evidence
WHERE submission_id = ANY((SELECT %(submission_ids)s::bigint[])::bigint[])
ORDER BY submission_id, id;

-- name: held
SELECT s.id FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
WHERE s.review = 'held'
    AND (%(everything)s OR b.creator_id = %(viewer_id)s)
    AND (%(board)s::text IS NULL OR lower(b.name) = lower(%(board)s::text))
ORDER BY s.id LIMIT %(limit)s;
