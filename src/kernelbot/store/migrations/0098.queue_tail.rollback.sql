CREATE OR REPLACE FUNCTION queue_place(_run bigint, _ranked_first boolean)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    own record;
    round bigint;
    before_it bigint;
BEGIN
    SELECT r.device, r.author_id, r.priority > 0 AS ranked,
        CASE WHEN _ranked_first AND r.priority > 0 THEN t.last_ranked_turn
            ELSE t.last_turn END AS last_turn
    INTO own
    FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
    WHERE r.id = _run AND r.state = 'queued';
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT count(*) INTO round FROM runs r
    WHERE r.device = own.device AND r.author_id = own.author_id AND r.state = 'queued'
        AND r.id <= _run AND (NOT _ranked_first OR (r.priority > 0) = own.ranked);
    SELECT coalesce(sum(
        CASE WHEN t.author_id = own.author_id THEN 0
            ELSE least(
                CASE WHEN NOT _ranked_first THEN t.waiting
                    WHEN own.ranked THEN t.waiting_ranked
                    ELSE t.waiting - t.waiting_ranked END,
                round - 1
                    + ((
                        CASE WHEN _ranked_first AND own.ranked THEN t.last_ranked_turn
                            ELSE t.last_turn END,
                        t.author_id
                    ) < (own.last_turn, own.author_id))::int
            ) END
        + CASE WHEN _ranked_first AND NOT own.ranked THEN t.waiting_ranked ELSE 0 END
    ), 0) INTO before_it
    FROM queue_turns t WHERE t.device = own.device AND t.waits;
    RETURN round + before_it;
END;
$$;
CREATE OR REPLACE FUNCTION queue_outlook(
    _submission bigint, _ranked_first boolean, _fresh_s double precision,
    OUT device text, OUT "position" bigint, OUT running bigint, OUT own_running bigint,
    OUT own_before bigint, OUT workers bigint, OUT mean_s double precision
) RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
DECLARE
    next record;
    fresh interval := make_interval(secs => _fresh_s);
BEGIN
    -- Its runs first: by statistics of an emptier hour all that waits looks like as little to read.
    WITH its AS MATERIALIZED (SELECT r.* FROM runs r WHERE r.submission_id = _submission)
    SELECT its.id, its.device, its.author_id, queue_place(its.id, _ranked_first) AS place
    INTO next
    FROM its WHERE its.state = 'queued' AND its.rejudge_id IS NULL
    ORDER BY place LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    device := next.device;
    "position" := next.place;
    SELECT count(*), count(*) FILTER (WHERE r.author_id = next.author_id)
    INTO running, own_running
    FROM runs r WHERE r.device = next.device AND r.state IN ('dispatched', 'running');
    SELECT count(*) INTO own_before FROM runs r
    WHERE r.device = next.device AND r.author_id = next.author_id AND r.state = 'queued'
        AND r.id < next.id;
    SELECT count(*) INTO workers
    FROM worker_devices d JOIN workers w ON w.owner = d.owner
    WHERE d.device = next.device AND d.available
        AND w.heartbeat_at BETWEEN now() - fresh AND now() + fresh;
    SELECT avg(greatest(extract(epoch FROM lately.finished_at - lately.started_at), 0))
    INTO mean_s
    FROM (
        SELECT r.finished_at, r.started_at FROM runs r
        WHERE r.device = next.device AND r.state = 'finished' AND r.started_at IS NOT NULL
        ORDER BY r.finished_at DESC LIMIT 50
    ) lately;
    RETURN NEXT;
END;
$$;
