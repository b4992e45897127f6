-- name: add_batch
INSERT INTO invite_batches (created_by) VALUES (%(created_by)s) RETURNING id;

-- name: add_boards
INSERT INTO invite_boards (batch_id, leaderboard_id)
SELECT %(batch_id)s, unnest(%(leaderboard_ids)s::bigint[]);

-- name: add_codes
INSERT INTO invites (code, batch_id) SELECT unnest(%(codes)s::text[]), %(batch_id)s
ON CONFLICT DO NOTHING;

-- name: remove_batch
DELETE FROM invite_batches WHERE id = %(batch_id)s;

-- Who has a code can join all of its boards: so it is for those alone who organise all of them, and
-- others aren't told either which those are.
-- name: of_board
SELECT CASE WHEN opens.are_own THEN i.code END AS code, i.user_id AS claimed_by_id,
    u.name AS claimed_by, i.claimed_at, b.created_at, opens.boards
FROM invite_boards o
JOIN invite_batches b ON b.id = o.batch_id
JOIN invites i ON i.batch_id = b.id
LEFT JOIN users u ON u.id = i.user_id
CROSS JOIN LATERAL (
    SELECT bool_and(own.is) AS are_own, array_agg(l.name ORDER BY l.name) FILTER (WHERE own.is) AS boards
    FROM invite_boards x
    JOIN leaderboards l ON l.id = x.leaderboard_id
    CROSS JOIN LATERAL (SELECT %(everything)s OR l.creator_id = %(viewer_id)s AS is) own
    WHERE x.batch_id = i.batch_id
) opens
WHERE o.leaderboard_id = %(leaderboard_id)s
    AND (NOT %(unclaimed)s OR i.claimed_at IS NULL)
ORDER BY b.id DESC, i.code
LIMIT %(limit)s OFFSET %(offset)s;

-- A second claim waits here for the first one's commit, and then finds the invite claimed.
-- name: claim
UPDATE invites SET user_id = %(user_id)s, claimed_at = now()
WHERE code = %(code)s AND claimed_at IS NULL;

-- name: boards
SELECT l.id, l.name, l.creator_id, i.user_id, i.claimed_at
FROM invites i
JOIN invite_boards x ON x.batch_id = i.batch_id
JOIN leaderboards l ON l.id = x.leaderboard_id
WHERE i.code = %(code)s ORDER BY l.name;

-- name: revoke
DELETE FROM invites WHERE code = %(code)s RETURNING claimed_at IS NOT NULL AS was_claimed;
