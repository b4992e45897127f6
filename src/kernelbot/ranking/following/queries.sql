-- name: lock
SELECT 1 AS locked FROM users WHERE id = %(follower_id)s FOR NO KEY UPDATE;

-- name: follow_board
INSERT INTO follows (follower_id, leaderboard_id) VALUES (%(follower_id)s, %(leaderboard_id)s)
ON CONFLICT DO NOTHING;

-- name: unfollow_board
DELETE FROM follows f USING leaderboards b
WHERE f.follower_id = %(follower_id)s AND f.leaderboard_id = b.id AND lower(b.name) = lower(%(board)s);

-- name: follow_author
INSERT INTO follows (follower_id, author_id) VALUES (%(follower_id)s, %(author_id)s)
ON CONFLICT DO NOTHING;

-- name: unfollow_author
DELETE FROM follows WHERE follower_id = %(follower_id)s AND author_id = %(author_id)s;

-- name: followed
SELECT leaderboard_id, author_id FROM follows WHERE follower_id = %(follower_id)s;

-- Those of whom something is ranked on these boards, and who don't keep that to themselves.
-- name: visible_authors
SELECT u.id, u.name FROM users u
WHERE u.id = ANY(%(author_ids)s) AND NOT u.page_is_private AND EXISTS (
    SELECT 1 FROM standings s
    WHERE s.author_id = u.id AND s.leaderboard_id = ANY(%(board_ids)s)
)
ORDER BY lower(u.name);

-- The latest of each author first, along the index of their submissions.
-- name: scores
SELECT latest.leaderboard_id, latest.device, latest.submission_id, latest.author_id,
    u.name AS author, latest.score_s, latest.achieved_at, own.unverified,
    CASE WHEN NOT u.page_is_private THEN u.id END AS page_id,
    CASE WHEN own.ci_low_s IS NOT NULL THEN ARRAY[latest.ci_low_s, latest.ci_high_s] END AS ci95_s
FROM (
    SELECT by_author.* FROM unnest(%(author_ids)s::bigint[]) AS followed (author_id)
    CROSS JOIN LATERAL (
        SELECT * FROM eligible_runs e
        WHERE e.author_id = followed.author_id AND e.leaderboard_id = ANY(%(board_ids)s)
        ORDER BY e.submission_id DESC LIMIT %(limit)s
    ) by_author
    ORDER BY by_author.achieved_at DESC LIMIT %(limit)s
) latest
CROSS JOIN LATERAL (SELECT id, name, page_is_private FROM users WHERE id = latest.author_id LIMIT 1) u
CROSS JOIN LATERAL (SELECT ci_low_s, unverified FROM runs WHERE id = latest.run_id LIMIT 1) own
ORDER BY latest.achieved_at DESC;
