-- depends: 0080.queue_outlook
-- What a submit needs, in few calls whose plans are made once per connection.

-- Whether an author has something waiting, as a column of its own: with the count itself in the
-- index's condition every change of it needed new entries in all of the table's indexes.
ALTER TABLE queue_turns ADD COLUMN waits boolean NOT NULL GENERATED ALWAYS AS (waiting > 0) STORED;
ALTER TABLE queue_turns SET (fillfactor = 50);
DROP INDEX queue_turns_waiting;
CREATE INDEX queue_turns_waiting ON queue_turns (device) WHERE waits;

-- A job for a run, to be taken after the delay. It only says "look at this run".
CREATE FUNCTION add_job(_run bigint, _device text, _priority integer, _delay_s double precision)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        'device:' || _device, 'judge_run', _priority, NULL, 'run:' || _run,
        jsonb_build_object('run_id', _run),
        CASE WHEN _delay_s > 0 THEN now() + make_interval(secs => _delay_s) END
    )::procrastinate_job_to_defer_v1]);
END;
$$;

-- The same, unless one waits already.
CREATE FUNCTION bring_job(_run bigint, _device text, _priority integer, _delay_s double precision)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_job(_run, _device, _priority, _delay_s);
EXCEPTION WHEN unique_violation THEN
    NULL;
END;
$$;

-- Count one more towards a limit: NULL. Or, where that would be too many, the seconds until it
-- isn't. Exact however many ask at once: those of one author wait for each other until their
-- transactions end.
CREATE FUNCTION use_limit(_board bigint, _author bigint, _category limit_category, _max integer)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    oldest timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('limit:' || _board || ':' || _author || ':' || _category, 0)
    );
    -- What lies ahead is of before the clock was put back: nobody waits for it.
    DELETE FROM rate_uses
    WHERE leaderboard_id = _board AND author_id = _author AND category = _category
        AND (
            used_at <= clock_timestamp() - interval '1 hour'
            OR used_at > clock_timestamp() + interval '1 minute'
        );
    -- The wait is that for the oldest of the last `_max` to be an hour old.
    SELECT used_at INTO oldest FROM rate_uses
    WHERE leaderboard_id = _board AND author_id = _author AND category = _category
    ORDER BY used_at DESC OFFSET _max - 1 LIMIT 1;
    IF FOUND THEN
        RETURN extract(epoch FROM oldest + interval '1 hour' - clock_timestamp());
    END IF;
    INSERT INTO rate_uses (leaderboard_id, author_id, category, used_at)
    VALUES (_board, _author, _category, clock_timestamp());
    RETURN NULL;
END;
$$;

-- A submission with its source, its runs, their jobs, and the events that tell of them; a row for
-- each run. `waiting`: what its author has waiting on the device with it; exact until the
-- transaction ends, since the runs have locked his turn.
CREATE FUNCTION add_submission(
    _board bigint, _version bigint, _author bigint, _sha256 bytea, _content text,
    _file_name text, _mode submission_mode, _devices text[]
) RETURNS TABLE (
    submission_id bigint, id bigint, device text, secret boolean, created_at timestamptz,
    waiting integer
) LANGUAGE plpgsql AS $$
DECLARE
    ranked boolean := _mode = 'leaderboard';
BEGIN
    -- The update of nothing holds the row, so that no deletion takes it away meanwhile.
    INSERT INTO sources AS c (sha256, content) VALUES (_sha256, _content)
    ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256;

    INSERT INTO submissions AS s (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode
    )
    VALUES (_board, _version, _author, _sha256, _file_name, _mode)
    RETURNING s.id INTO submission_id;

    -- Devices in one order: each locks the author's turn. Nobody follows it yet, so nobody is
    -- told, and no other event can be numbered meanwhile.
    WITH added AS (
        INSERT INTO runs AS r (submission_id, device, secret, author_id, priority)
        SELECT submission_id, d, s, _author, ranked::int
        FROM unnest(_devices) d CROSS JOIN unnest(CASE WHEN ranked THEN '{f,t}' ELSE '{f}' END::boolean[]) s
        ORDER BY d, s
        RETURNING r.id
    )
    INSERT INTO events AS e (submission_id, id, run_id, kind, data)
    SELECT submission_id, row_number() OVER (ORDER BY added.id), added.id, 'queued', '{}'
    FROM added;

    FOR id, device, secret, created_at, waiting IN
        SELECT r.id, r.device, r.secret, r.created_at, t.waiting
        FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
        WHERE r.submission_id = add_submission.submission_id ORDER BY r.id
    LOOP
        PERFORM add_job(id, device, ranked::int, 0);
        RETURN NEXT;
    END LOOP;
END;
$$;

-- As they were, but for the column by which those who wait are found.
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

-- As it was, but what runs is counted among the runs: everyone who ever submitted has a turn.
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
