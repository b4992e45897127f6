-- name: configure
UPDATE platform SET duel_places = %(places)s::integer
WHERE duel_places IS DISTINCT FROM %(places)s::integer;

-- name: enqueue
SELECT enqueue_duel(%(device)s) AS run_id;

-- name: matters
SELECT duel_matters(%(duel_id)s) AS matters;

-- name: measured
SELECT duel_measured(%(duel_id)s, %(ratio)s, %(low)s, %(high)s);

-- name: would_win
SELECT wins_duel(d, %(ratio)s, %(high)s) AS wins FROM duels d WHERE d.id = %(duel_id)s;

-- name: failed
UPDATE duels SET state = 'failed', ended_at = now(), note = %(note)s, refused = %(refused)s
WHERE id = %(duel_id)s AND state = 'waiting';

-- name: settle
SELECT settle_duel(%(duel_id)s);

-- name: opponent
SELECT opponent_id FROM duels WHERE id = %(duel_id)s;

-- Whoever had claimed it asks for the next run at once: there may be many such duels.
-- name: cancel_run
UPDATE runs SET state = 'cancelled', finished_at = now()
WHERE id = %(run_id)s AND state = 'queued'
RETURNING announce_turn(device);

-- name: of_board
SELECT d.id, b.name AS board, d.device, d.reason, d.state, d.submission_id, a.name AS author,
    d.opponent_id, o.name AS opponent, d.ratio, d.ratio_low, d.ratio_high, least_ratio(), d.note,
    d.refused, d.created_at, d.ended_at,
    CASE WHEN NOT a.page_is_private THEN a.id END AS author_page_id,
    CASE WHEN NOT o.page_is_private THEN o.id END AS opponent_page_id
FROM duels d
JOIN leaderboards b ON b.id = d.leaderboard_id
JOIN submissions s ON s.id = d.submission_id
JOIN users a ON a.id = s.author_id
JOIN submissions t ON t.id = d.opponent_id
JOIN users o ON o.id = t.author_id
WHERE d.leaderboard_id = %(leaderboard_id)s
    AND (%(device)s::text IS NULL OR d.device = %(device)s)
    AND (%(duel_id)s::bigint IS NULL OR d.id = %(duel_id)s)
    AND (%(submission_id)s::bigint IS NULL OR %(submission_id)s IN (d.submission_id, d.opponent_id))
    AND d.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
ORDER BY d.id DESC LIMIT %(limit)s;

-- name: shared_seed
SELECT EXISTS (SELECT 1 FROM runs WHERE duel_id = %(duel_id)s AND shared_seed) AS shared;

-- name: result
SELECT a.result::text AS result
FROM runs r JOIN attempts a ON a.run_id = r.id AND a.state = 'finished'
WHERE r.duel_id = %(duel_id)s;

-- name: returned
SELECT result::text AS result FROM attempts
WHERE run_id = %(run_id)s AND state = 'returned' AND result IS NOT NULL
ORDER BY number DESC LIMIT 1;
