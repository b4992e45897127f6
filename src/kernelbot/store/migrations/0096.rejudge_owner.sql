-- depends: 0095.submit
-- A rejudge is measured by one worker: several may serve a device, each on a machine of its own, and
-- figures of one go are compared with each other. The worker that takes its first run takes the
-- others too, unless it is gone.
ALTER TABLE rejudges ADD COLUMN owner text;

-- The run of a rejudge that this worker measures next on the device, locked; NULL for none. The
-- rejudge's row, once its owner is set, lets the next to ask see whose it is.
CREATE FUNCTION next_rejudged_run(_device text, _owner text, _stale_s double precision)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    stale interval := make_interval(secs => _stale_s);
    open_id bigint;
    found_id bigint;
BEGIN
    FOR open_id IN
        SELECT id FROM rejudges WHERE device = _device AND finished_at IS NULL ORDER BY id
    LOOP
        UPDATE rejudges SET owner = _owner
        WHERE id = open_id AND (
            owner IS NULL OR owner = _owner OR NOT EXISTS (
                -- A heartbeat from the future is of before the clock was put back.
                SELECT 1 FROM workers w
                WHERE w.owner = rejudges.owner
                    AND w.heartbeat_at BETWEEN now() - stale AND now() + stale
            )
        );
        CONTINUE WHEN NOT FOUND;
        SELECT id INTO found_id FROM runs
        WHERE rejudge_id = open_id AND state = 'queued'
            -- No pause is that long: then the clock was put back.
            AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
        ORDER BY id LIMIT 1
        FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            RETURN found_id;
        END IF;
    END LOOP;
    RETURN NULL;
END;
$$;

-- As it was, but for what is rejudged.
CREATE OR REPLACE FUNCTION next_run(_device text, _running_limit integer, _ranked_first boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ranked boolean;
    turn record;
    found_id bigint;
BEGIN
    FOREACH ranked IN ARRAY CASE WHEN _ranked_first THEN '{t,f}' ELSE '{f}' END::boolean[] LOOP
        FOR turn IN
            SELECT author_id FROM queue_turns
            WHERE device = _device AND waits AND (NOT ranked OR waiting_ranked > 0)
            ORDER BY CASE WHEN ranked THEN last_ranked_turn ELSE last_turn END, author_id
        LOOP
            PERFORM 1 FROM queue_turns
            WHERE device = _device AND author_id = turn.author_id AND waits
                AND (_running_limit IS NULL OR running < _running_limit)
            FOR NO KEY UPDATE;
            CONTINUE WHEN NOT FOUND;
            SELECT id INTO found_id FROM runs
            WHERE device = _device AND author_id = turn.author_id AND state = 'queued'
                AND rejudge_id IS NULL AND (NOT ranked OR priority > 0)
                -- No pause is that long: then the clock was put back.
                AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
            ORDER BY id LIMIT 1
            FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                UPDATE queue_turns
                SET last_turn = CASE WHEN ranked THEN last_turn
                        ELSE nextval('queue_turn_numbers') END,
                    last_ranked_turn = CASE WHEN ranked THEN nextval('queue_turn_numbers')
                        ELSE last_ranked_turn END
                WHERE device = _device AND author_id = turn.author_id;
                RETURN found_id;
            END IF;
        END LOOP;
    END LOOP;
    RETURN NULL;
END;
$$;
