DROP FUNCTION next_rejudged_run;
ALTER TABLE rejudges DROP COLUMN owner;
CREATE OR REPLACE FUNCTION next_run(_device text, _running_limit integer, _ranked_first boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ranked boolean;
    turn record;
    found_id bigint;
BEGIN
    SELECT id INTO found_id FROM runs
    WHERE device = _device AND state = 'queued' AND rejudge_id IS NOT NULL
        AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
    ORDER BY id LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        RETURN found_id;
    END IF;
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
                AND (NOT ranked OR priority > 0)
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
