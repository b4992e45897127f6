-- name: know_code
UPDATE submissions SET code_sha256 = %(code_sha256)s
WHERE id = %(submission_id)s AND code_sha256 IS DISTINCT FROM %(code_sha256)s;

-- name: add_event
SELECT add_event(%(submission_id)s, %(run_id)s, %(kind)s, %(data)s::jsonb);

-- name: tell_that_it_waits
SELECT add_event(r.submission_id, r.id, 'queued', '{}')
FROM runs p
JOIN runs r ON r.submission_id = p.submission_id AND r.device = p.device AND r.secret
    AND r.rejudge_id IS NULL AND r.state = 'queued'
WHERE p.id = %(run_id)s AND NOT p.secret AND p.verdict = 'accepted';

-- A row for each of its runs. `line`: the result of `queue_line`, which is asked once, and only if a
-- run waits. `stamp`: that of the same moment, if it is asked for. Of functions alone: with the views in
-- it, it was planned anew each time, since what isn't asked for makes a cheaper plan without it.
-- name: snapshot
SELECT r.*, (SELECT preflights_of(%(submission_id)s)) AS preflights,
    CASE WHEN r.state = 'queued' THEN (
        SELECT queue_line(%(submission_id)s, %(ranked_first)s, %(fresh_s)s, %(limited)s)
    ) END AS line,
    CASE WHEN %(stamped)s THEN (SELECT (stamp_of(%(submission_id)s)).stamp) END AS stamp
FROM submission_snapshot(%(submission_id)s) r;

-- Whose token it is, and in the same statement whether what its owner was shown of a submission of theirs
-- is still true: so whatever is answered from it was allowed when it was true. `moment`: what the
-- statement sees; if it sees what an earlier one saw, nothing else is asked, and `stamp` is NULL.
-- name: look
SELECT o.id AS owner_id, m.moment, (k.now).stamp, CASE WHEN (k.now).waits
    THEN queue_line(%(submission_id)s, %(ranked_first)s, %(fresh_s)s, %(limited)s) END AS line
FROM token_owners o
CROSS JOIN (SELECT pg_current_snapshot()::text AS moment OFFSET 0) m
CROSS JOIN LATERAL (
    SELECT CASE WHEN m.moment IS DISTINCT FROM %(moment)s::text
        THEN stamp_of(%(submission_id)s) END AS now OFFSET 0
) k
WHERE o.hash = %(hash)s AND o.kind = 'token'
    AND (m.moment = %(moment)s::text OR (k.now).author_id = o.id);

-- The same for a page of their list.
-- name: look_at_page
SELECT o.id AS owner_id, m.moment, CASE WHEN m.moment IS DISTINCT FROM %(moment)s::text
    THEN own_page_stamp(o.id, %(board)s, %(before_id)s, %(limit)s) END AS stamp
FROM token_owners o
CROSS JOIN (SELECT pg_current_snapshot()::text AS moment OFFSET 0) m
WHERE o.hash = %(hash)s AND o.kind = 'token';

-- name: page_stamp
SELECT own_page_stamp(%(author_id)s, %(board)s, %(before_id)s, %(limit)s) AS stamp;

-- name: same_code
SELECT not_ranked_for AS other_id FROM shown_runs
WHERE submission_id = %(submission_id)s AND secret AND not_ranked = 'same_code'
ORDER BY id LIMIT 1;

-- name: code
SELECT c.content AS code FROM submissions s JOIN sources c ON c.sha256 = s.source_sha256
WHERE s.id = %(submission_id)s;

-- name: one
SELECT s.id, b.id AS board_id, b.name AS board, b.creator_id, u.name AS author, s.author_id,
    s.file_name, s.mode, s.created_at, s.review, s.review_reason, seed_is_shared(s.id, b.fixed_seed),
    NULL AS code
FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN users u ON u.id = s.author_id
WHERE s.id = %(submission_id)s;

-- A statement each, along its index and no further than the page: as one, a kept plan looks
-- through all of the author's for the half that isn't asked for.
-- name: of_author
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT id FROM submissions
    WHERE author_id = %(author_id)s
        AND id < coalesce(%(before_id)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s
))
ORDER BY id DESC;

-- name: of_author_on_board
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT id FROM submissions
    WHERE leaderboard_id = (SELECT id FROM leaderboards WHERE lower(name) = lower(%(board)s::text))
        AND author_id = %(author_id)s
        AND id < coalesce(%(before_id)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s
))
ORDER BY id DESC;

-- name: of_author_on_device
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT s.id FROM submissions s
    WHERE s.leaderboard_id = (SELECT id FROM leaderboards WHERE lower(name) = lower(%(board)s::text))
        AND s.author_id = %(author_id)s
        AND s.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
        AND EXISTS (SELECT 1 FROM runs r WHERE r.submission_id = s.id AND r.device = %(device)s)
    ORDER BY s.id DESC LIMIT %(limit)s OFFSET %(offset)s
))
ORDER BY id DESC;

-- name: of_board
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT id FROM submissions
    WHERE leaderboard_id = %(leaderboard_id)s
        AND id < coalesce(%(before_id)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s
))
ORDER BY id DESC;

-- name: of_all
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT id FROM submissions WHERE id < coalesce(%(before_id)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s
))
ORDER BY id DESC;

-- name: wanted
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT s.id FROM submissions s
    WHERE s.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
        AND (%(leaderboard_id)s::bigint IS NULL OR s.leaderboard_id = %(leaderboard_id)s)
        AND (%(author_id)s::bigint IS NULL OR s.author_id = %(author_id)s)
        AND (%(device)s::text IS NULL OR EXISTS (
            SELECT 1 FROM runs r
            WHERE r.submission_id = s.id AND r.rejudge_id IS NULL AND lower(r.device) = lower(%(device)s)
        ))
        AND (%(state)s::text IS NULL OR submission_state(s.id, s.review) = %(state)s)
    ORDER BY s.id DESC LIMIT %(limit)s
))
ORDER BY id DESC;

-- Few are in these states: they are found first, by an index or in one pass over the runs.
-- name: wanted_rare
WITH rare AS MATERIALIZED (
    SELECT submission_id AS id FROM runs
    WHERE state = 'queued' AND %(state)s::text IN ('queued', 'running')
    UNION
    SELECT submission_id FROM runs
    WHERE state IN ('dispatched', 'running') AND %(state)s::text = 'running'
    UNION
    SELECT submission_id FROM runs WHERE state = 'cancelled' AND %(state)s::text = 'cancelled'
    UNION
    SELECT id FROM submissions WHERE review = 'held' AND %(state)s::text = 'held'
)
SELECT * FROM listed_submissions WHERE id = ANY(ARRAY(
    SELECT s.id FROM rare JOIN submissions s USING (id)
    WHERE s.id < coalesce(%(before_id)s::bigint, 9223372036854775807)
        AND (%(leaderboard_id)s::bigint IS NULL OR s.leaderboard_id = %(leaderboard_id)s)
        AND (%(author_id)s::bigint IS NULL OR s.author_id = %(author_id)s)
        AND (%(device)s::text IS NULL OR EXISTS (
            SELECT 1 FROM runs r
            WHERE r.submission_id = s.id AND r.rejudge_id IS NULL AND lower(r.device) = lower(%(device)s)
        ))
        AND submission_state(s.id, s.review) = %(state)s
    ORDER BY s.id DESC LIMIT %(limit)s
))
ORDER BY id DESC;

-- name: on_board
SELECT id FROM submissions WHERE leaderboard_id = %(leaderboard_id)s
ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s;

-- As `snapshot`, with the hash of the same moment.
-- The ids are a subquery, so that the planner doesn't know how many there are: else it plans anew
-- each time, which costs more than the rows, because for one it hopes for better than for ten.
-- What is asked of each view is read first: for the planner each of them has one row, so it would
-- read all the runs again for each of the submissions.
-- name: entries
WITH asked AS MATERIALIZED (
    SELECT unnest((SELECT %(submission_ids)s::bigint[])::bigint[]) AS id
), shown AS MATERIALIZED (
    SELECT * FROM shown_runs
    WHERE submission_id = ANY((SELECT %(submission_ids)s::bigint[])::bigint[])
), listed AS MATERIALIZED (
    SELECT id, hash FROM listed_submissions
    WHERE id = ANY((SELECT %(submission_ids)s::bigint[])::bigint[])
)
SELECT s.id, b.id AS board_id, b.name AS board, b.creator_id, u.name AS author, s.author_id,
    s.file_name, s.mode, s.created_at, s.review, s.review_reason, seed_is_shared(s.id, b.fixed_seed),
    NULL AS code, l.hash,
    r.id AS run_id, r.device, r.secret, r.state, r.verdict, r.score_s, r.attempts,
    r.created_at AS run_created_at, r.started_at, r.finished_at, r.fault, r.message, r.best_of_version,
    r.not_ranked, r.not_ranked_for, r.ratio, r.ratio_low, r.ratio_high, r.unverified, r.repeats,
    i.ci_low_s, i.ci_high_s, i.own_low_s, i.own_high_s, i.scatter, i.scatter_pairs
FROM asked
JOIN submissions s USING (id)
JOIN listed l USING (id)
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN users u ON u.id = s.author_id
JOIN shown r ON r.submission_id = s.id
LEFT JOIN score_intervals i ON i.run_id = r.scored_run_id
ORDER BY s.id DESC, r.device, r.secret;

-- name: rejudged_runs
SELECT r.id, r.submission_id, r.device, r.secret, r.state, r.verdict, r.score_s, r.attempts,
    r.created_at, r.started_at, r.finished_at, r.fault, r.message, r.unverified, r.rejudge_id, r.repeats,
    i.ci_low_s, i.ci_high_s, i.own_low_s, i.own_high_s, i.scatter, i.scatter_pairs
FROM runs r LEFT JOIN score_intervals i ON i.run_id = r.id
WHERE r.submission_id = %(submission_id)s AND r.rejudge_id IS NOT NULL
ORDER BY r.rejudge_id, r.id;

-- name: results
SELECT a.run_id, a.result::text AS result, m.phases, m.workloads, m.samples_zlib, f.names, f.contents
FROM runs r
JOIN attempts a ON a.run_id = r.id AND a.state = 'finished'
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(phase::text), '{}') AS phases,
        coalesce(array_agg(workload), '{}') AS workloads,
        coalesce(array_agg(samples_zlib), '{}') AS samples_zlib
    FROM measurements WHERE run_id = r.id
) m
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(name), '{}') AS names, coalesce(array_agg(
            CASE WHEN %(files)s OR media_type = 'text/plain' THEN content ELSE '' END
        ), '{}') AS contents
    FROM artifacts WHERE run_id = r.id
) f
WHERE r.submission_id = %(submission_id)s;

-- name: files
SELECT f.run_id, r.device, f.name, f.media_type, octet_length(f.content) AS size_bytes
FROM artifacts f JOIN runs r ON r.id = f.run_id
WHERE r.submission_id = %(submission_id)s AND (%(secret)s OR NOT r.secret)
ORDER BY r.device, f.run_id, f.name;

-- name: file
SELECT f.run_id, r.device, f.name, f.media_type, octet_length(f.content) AS size_bytes, f.content
FROM artifacts f JOIN runs r ON r.id = f.run_id
WHERE r.submission_id = %(submission_id)s AND (%(secret)s OR NOT r.secret)
    AND f.run_id = %(run_id)s AND f.name = %(name)s;

-- name: cancel_runs
UPDATE runs SET state = 'cancelled', finished_at = now()
WHERE submission_id = %(submission_id)s AND state IN ('queued', 'dispatched', 'running')
    AND rejudge_id IS NULL
RETURNING id, device, secret;

-- name: cancel_attempts
UPDATE attempts SET state = 'cancelled', ended_at = now()
WHERE run_id = ANY(%(run_ids)s) AND state IN ('launching', 'running');

-- name: notify_cancelled
SELECT pg_notify('kernelbot_cancelled', %(run_id)s::text);

-- Those that are offered come first.
-- name: refresh_standings
SELECT refresh_standing(s.leaderboard_id, d.device, s.author_id)
FROM submissions s
CROSS JOIN LATERAL (
    SELECT o.device FROM devices_decided_by(s.id) o(device)
    LEFT JOIN leaderboard_devices ld ON ld.leaderboard_id = s.leaderboard_id AND ld.device = o.device
    ORDER BY ld.device IS NULL, o.device
) d
WHERE s.id = %(submission_id)s AND s.mode = 'leaderboard';

-- What happened after an id, and whether every run has ended, both of one moment; `ended` is NULL if
-- there is none, since the submission was deleted. A row without an event, if there is none. A run that
-- was deleted from its submission was on secret data: of a rejudge that was ended, say.
-- name: events
SELECT e.id, e.submission_id, e.run_id, e.device, e.secret, e.kind, e.data, e.created_at, all_runs.ended
FROM (
    SELECT bool_and(state IN ('finished', 'cancelled')) AS ended
    FROM runs WHERE submission_id = %(submission_id)s AND rejudge_id IS NULL
) all_runs
LEFT JOIN LATERAL (
    SELECT e.id, e.submission_id, e.run_id, r.device,
        coalesce(r.secret, e.run_id IS NOT NULL) AS secret, e.kind, e.data, e.created_at
    FROM events e LEFT JOIN runs r ON r.id = e.run_id
    WHERE e.submission_id = %(submission_id)s AND e.id > %(after)s
    ORDER BY e.id LIMIT %(limit)s
) e ON true
ORDER BY e.id;
