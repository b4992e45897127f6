-- Whose turn it is, and how long the wait is.

CREATE FUNCTION count_turn(_run runs, _waits integer, _works integer)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    ranked integer := CASE WHEN _run.priority > 0 THEN _waits ELSE 0 END;
BEGIN
    UPDATE queue_turns
    SET waiting = waiting + _waits, waiting_ranked = waiting_ranked + ranked,
        running = running + _works
    WHERE device = _run.device AND author_id = _run.author_id;
    IF NOT FOUND AND _waits + _works > 0 THEN
        INSERT INTO queue_turns AS t (device, author_id, waiting, waiting_ranked, running)
        VALUES (_run.device, _run.author_id, _waits, ranked, _works)
        ON CONFLICT (device, author_id) DO UPDATE
        SET waiting = t.waiting + excluded.waiting,
            waiting_ranked = t.waiting_ranked + excluded.waiting_ranked,
            running = t.running + excluded.running;
    END IF;
END;
$$;

-- Wake the workers of a device when the transaction commits: a run waits, or one has ended, so that
-- its author's next may begin.
CREATE FUNCTION announce_turn(_device text) RETURNS void LANGUAGE sql AS $$
    SELECT pg_notify('kernelbot_turns', _device);
$$;

CREATE FUNCTION keep_turns() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    waits integer := 0;
    works integer := 0;
BEGIN
    IF TG_OP <> 'INSERT' THEN
        waits := waits - (OLD.state = 'queued')::int;
        works := works - (OLD.state IN ('dispatched', 'running'))::int;
    END IF;
    IF TG_OP = 'DELETE' THEN
        PERFORM count_turn(OLD, waits, works);
        PERFORM announce_turn(OLD.device);
        RETURN NULL;
    END IF;
    waits := waits + (NEW.state = 'queued')::int;
    works := works + (NEW.state IN ('dispatched', 'running'))::int;
    IF waits <> 0 OR works <> 0 THEN
        PERFORM count_turn(NEW, waits, works);
    END IF;
    IF waits > 0 OR works < 0 THEN
        PERFORM announce_turn(NEW.device);
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER runs_turn_insert AFTER INSERT ON runs
    FOR EACH ROW WHEN (NEW.state IN ('queued', 'dispatched', 'running'))
    EXECUTE FUNCTION keep_turns();
CREATE TRIGGER runs_turn_update AFTER UPDATE OF state ON runs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION keep_turns();
CREATE TRIGGER runs_turn_delete AFTER DELETE ON runs
    FOR EACH ROW WHEN (OLD.state IN ('queued', 'dispatched', 'running'))
    EXECUTE FUNCTION keep_turns();

-- The run of a rejudge that this worker measures next on the device, locked; NULL for none. The
-- owner that is stored in the rejudge tells other workers whose it is.
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
                -- A heartbeat in the future is from before the clock was set back.
                SELECT 1 FROM workers w
                WHERE w.owner = rejudges.owner
                    AND w.heartbeat_at BETWEEN now() - stale AND now() + stale
            )
        );
        CONTINUE WHEN NOT FOUND;
        SELECT id INTO found_id FROM runs
        WHERE rejudge_id = open_id AND state = 'queued'
            -- No pause is that long: then the clock was set back.
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

-- The next run on a device that goes before all others, locked; NULL for none: one that is measured
-- again because its interval was too wide, or what is known to be right. Those of rejudges are left to
-- `next_rejudged_run`, whose worker measures all of them.
CREATE FUNCTION next_run_ahead(_device text) RETURNS bigint LANGUAGE sql AS $$
    SELECT id FROM runs
    WHERE device = _device AND state = 'queued' AND (repeats > 0 OR known_id IS NOT NULL)
        AND rejudge_id IS NULL
        -- No pause is that long: then the clock was set back.
        AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
    ORDER BY id LIMIT 1
    FOR UPDATE SKIP LOCKED
$$;

-- Whether a run on secret data has its turn: a submission's has once the tests of its public run
-- passed, a duel's at once.
CREATE FUNCTION has_passed_tests(_run runs) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT _run.submission_id IS NULL OR EXISTS (
        SELECT 1 FROM runs p
        WHERE p.submission_id = _run.submission_id AND p.device = _run.device AND NOT p.secret
            AND p.state = 'finished' AND p.verdict = 'accepted'
    );
$$;

-- The run to judge next on a device, locked, and its author's turn used; NULL if nothing may be
-- judged. Of the authors with waiting runs and fewer than `_running_limit` being judged (NULL: no
-- limit), it is the one whose last turn is the longest ago; of their runs the oldest. With
-- `_ranked_first` every ranked run goes before any other. Because of the lock on the turn, two
-- concurrent calls get different runs, and the limit is exact.
CREATE FUNCTION next_run(_device text, _running_limit integer, _ranked_first boolean)
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
                AND (NOT secret OR has_passed_tests(runs))
                -- No pause is that long: then the clock was set back.
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

-- Runs with all that their job specifications are made of. A duel's run is of the submission that was
-- compared, on the board's problem as it is now; that of what is known to be right is no submission's.
CREATE VIEW claimable_runs AS
SELECT r.id, r.state, r.secret, r.device, r.attempts, s.id AS submission_id, r.rejudge_id, r.duel_id,
    r.known_id, r.repeats, coalesce(s.mode, 'leaderboard') AS mode,
    coalesce(s.mode = 'test' AND NOT EXISTS (
        SELECT 1 FROM leaderboard_devices o WHERE o.leaderboard_id = b.id AND o.device = r.device
    ), false) AS is_not_offered,
    coalesce(s.file_name, k.name) AS file_name, coalesce(s.author_id, b.creator_id) AS author_id,
    b.id AS leaderboard_id,
    CASE WHEN r.duel_id IS NULL
        THEN coalesce(j.problem_version_id, s.problem_version_id, k.problem_version_id)
        ELSE b.problem_version_id END AS problem_version_id,
    c.content AS code, b.secret AS board_secret, b.fixed_seed,
    opponent.file_name AS opponent_file_name, opposed.content AS opponent_code,
    extract(epoch FROM now() - r.created_at)::float8 AS waited_s
FROM runs r
LEFT JOIN duels d ON d.id = r.duel_id
LEFT JOIN known_right k ON k.id = r.known_id
LEFT JOIN submissions s ON s.id = coalesce(r.submission_id, d.submission_id)
JOIN sources c ON c.sha256 = coalesce(s.source_sha256, k.source_sha256)
JOIN leaderboards b ON b.id = coalesce(s.leaderboard_id, k.leaderboard_id)
LEFT JOIN rejudges j ON j.id = r.rejudge_id
LEFT JOIN submissions opponent ON opponent.id = d.opponent_id
LEFT JOIN sources opposed ON opposed.sha256 = opponent.source_sha256;

-- The queued run that a worker judges next on a device, locked until the transaction ends; none if
-- nothing may be judged. What is measured again goes before all others, and what the others are
-- compared with. Two statements: the second sees what the first has waited for.
CREATE FUNCTION claim_next(
    _device text, _running_limit integer, _ranked_first boolean, _owner text,
    _stale_s double precision
) RETURNS SETOF claimable_runs LANGUAGE plpgsql AS $$
DECLARE
    chosen bigint := coalesce(
        next_run_ahead(_device),
        next_rejudged_run(_device, _owner, _stale_s),
        next_run(_device, _running_limit, _ranked_first)
    );
BEGIN
    IF chosen IS NOT NULL THEN
        RETURN QUERY SELECT * FROM claimable_runs r WHERE r.id = chosen;
    END IF;
END;
$$;

-- The turns of a device's authors with waiting runs, and the `coming` duels, which are ranked runs of the
-- newer submission's author. Called only if duels wait.
CREATE FUNCTION turns_and_duels(_device text) RETURNS TABLE (
    author_id bigint, waiting integer, waiting_ranked integer, last_turn bigint,
    last_ranked_turn bigint, coming integer
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT w.author_id, sum(w.waiting)::integer, sum(w.waiting_ranked)::integer, max(w.last_turn),
        max(w.last_ranked_turn), sum(w.coming)::integer
    FROM (
        SELECT q.author_id, q.waiting, q.waiting_ranked, q.last_turn, q.last_ranked_turn, 0 AS coming
        FROM queue_turns q WHERE q.device = _device AND q.waits
        UNION ALL
        SELECT d.author_id, 0, 0, coalesce(q.last_turn, 0), coalesce(q.last_ranked_turn, 0), d.duels
        FROM coming_duels(_device) d
        LEFT JOIN queue_turns q ON q.device = _device AND q.author_id = d.author_id
    ) w
    GROUP BY w.author_id;
END;
$$;

-- How long a run takes of those that wait or run on a device, each by the latest ones of its mode: what
-- is timed takes far longer than tests, and a duel longer than both. NULL if none of most of their
-- modes has ended yet. `_runs`: how many wait or run, `coming` duels among them.
CREATE FUNCTION mean_run_s(_device text, _runs bigint) RETURNS double precision
LANGUAGE plpgsql STABLE AS $$
DECLARE
    mean_s double precision;
    duel_s double precision;
    dueled bigint;
BEGIN
    -- Modes are looked up one by one, and what waits is read in the order of its index: otherwise
    -- the planner reads a whole table for fifty rows of it. Fifty show what the others are; all
    -- would cost each look at a long queue.
    WITH lately AS MATERIALIZED (
        SELECT r.mode, r.secret, r.is_duel, sum(r.took_s) AS sum_s, count(*) AS runs
        FROM (
            SELECT (SELECT s.mode FROM submissions s WHERE s.id = e.submission_id LIMIT 1) AS mode,
                e.secret, e.duel_id IS NOT NULL AS is_duel,
                greatest(date_part('epoch', e.finished_at - e.started_at), 0) AS took_s
            FROM runs e
            WHERE e.device = _device AND e.state = 'finished' AND e.started_at IS NOT NULL
            ORDER BY e.finished_at DESC LIMIT 50
        ) r
        GROUP BY r.mode, r.secret, r.is_duel
    ), open AS (
        SELECT r.mode, r.secret, count(*) AS runs
        FROM (
            (
                SELECT (SELECT s.mode FROM submissions s WHERE s.id = q.submission_id LIMIT 1) AS mode,
                    q.secret
                FROM runs q
                WHERE q.device = _device AND q.state = 'queued' AND q.rejudge_id IS NULL
                ORDER BY q.author_id, q.priority DESC, q.id LIMIT 50
            )
            UNION ALL
            SELECT (SELECT s.mode FROM submissions s WHERE s.id = w.submission_id LIMIT 1), w.secret
            FROM runs w
            WHERE w.device = _device AND w.state IN ('dispatched', 'running') AND w.duel_id IS NULL
        ) r
        WHERE r.mode IS NOT NULL
        GROUP BY r.mode, r.secret
    )
    SELECT CASE WHEN sum(o.runs) FILTER (WHERE l.runs > 0) * 2 >= sum(o.runs)
            THEN sum(o.runs * l.sum_s / l.runs) / sum(o.runs) FILTER (WHERE l.runs > 0) END,
        (SELECT sum(d.sum_s) / sum(d.runs) FROM lately d WHERE d.is_duel)
    INTO mean_s, duel_s
    FROM open o LEFT JOIN lately l ON l.mode = o.mode AND l.secret = o.secret AND NOT l.is_duel;
    IF mean_s IS NOT NULL AND duel_s IS NOT NULL THEN
        SELECT count(*) INTO dueled FROM duels d WHERE d.device = _device AND d.state = 'waiting';
        mean_s := mean_s + (duel_s - mean_s) * least(1, dueled / _runs::float8);
    END IF;
    RETURN mean_s;
END;
$$;

-- The place of the submission's run whose turn comes first, and what an estimate of the wait needs;
-- NULL if nothing of it waits. `position`: how many runs of the device are judged before it, plus one,
-- if nobody submits more: in each round every author with waiting runs has one turn. Duels count that
-- are about to get a run. `own_*`: runs of its author; `others`: the waiting runs of others, if there is
-- a limit on running (`_limited`); `note`: what a worker says of the device if none can use it; `mean_s`:
-- NULL then, since nobody knows how long it takes. `_only`: of its runs this one.
--
-- A function, because its plans are made once per connection, and one statement for each run, because to
-- begin another one costs more than what it reads. Of the author's own runs it counts those behind and
-- not those before: most callers have just submitted, so there are none behind.
CREATE FUNCTION queue_line(
    _submission bigint, _ranked_first boolean, _fresh_s double precision, _limited boolean,
    _only bigint DEFAULT NULL
) RETURNS json LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    fresh interval := make_interval(secs => _fresh_s);
    run record;
    ranked boolean;
    dueled boolean;
    its record;
    next record;
    first bigint;
BEGIN
    FOR run IN
        SELECT r.id, r.device, r.author_id, r.repeats, r.priority FROM runs r
        WHERE r.submission_id = _submission AND r.state = 'queued' AND r.rejudge_id IS NULL
            AND (_only IS NULL OR r.id = _only)
    LOOP
        ranked := _ranked_first AND run.priority > 0;
        dueled := EXISTS (
            SELECT 1 FROM duels d WHERE d.device = run.device AND d.state = 'waiting'
        );
        SELECT run.device, at_work.runs AS running, at_work.own AS own_running,
            -- What is measured again goes before all others.
            CASE WHEN run.repeats > 0 THEN 1 ELSE own.round + turns.before_it END AS place,
            own.waiting - 1 - own.behind AS own_before,
            CASE WHEN _limited THEN turns.others ELSE 0 END AS others,
            serving.workers, serving.note, turns.runs + at_work.runs AS open
        INTO its
        FROM (
            SELECT t.waiting, behind.runs AS behind,
                CASE WHEN ranked THEN t.last_ranked_turn ELSE t.last_turn END AS last_turn,
                CASE WHEN NOT _ranked_first THEN t.waiting - behind.runs
                    WHEN ranked THEN t.waiting_ranked - behind.alike
                    ELSE t.waiting - t.waiting_ranked - behind.alike END AS round
            FROM queue_turns t, (
                SELECT count(*)::integer AS runs,
                    (count(*) FILTER (WHERE r.priority = run.priority))::integer AS alike
                FROM runs r
                WHERE r.device = run.device AND r.author_id = run.author_id AND r.state = 'queued'
                    AND r.priority IN (0, 1) AND r.id > run.id
            ) behind
            WHERE t.device = run.device AND t.author_id = run.author_id
        ) own
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(t.waiting + t.coming), 0) AS runs,
                coalesce(
                    sum(t.waiting + t.coming) FILTER (WHERE t.author_id <> run.author_id), 0
                ) AS others,
                coalesce(sum(
                    CASE WHEN t.author_id = run.author_id THEN 0
                        ELSE least(
                            CASE WHEN NOT _ranked_first THEN t.waiting + t.coming
                                WHEN ranked THEN t.waiting_ranked + t.coming
                                ELSE t.waiting - t.waiting_ranked END,
                            own.round - 1
                                + ((
                                    CASE WHEN ranked THEN t.last_ranked_turn ELSE t.last_turn END,
                                    t.author_id
                                ) < (own.last_turn, run.author_id))::int
                        ) END
                    + CASE WHEN _ranked_first AND NOT ranked THEN t.waiting_ranked + t.coming
                        ELSE 0 END
                ), 0) AS before_it
            FROM (
                SELECT q.author_id, q.waiting, q.waiting_ranked, q.last_turn, q.last_ranked_turn,
                    0 AS coming
                FROM queue_turns q WHERE q.device = run.device AND q.waits AND NOT dueled
                UNION ALL
                SELECT * FROM turns_and_duels(run.device) WHERE dueled
            ) t
        ) turns
        CROSS JOIN (
            SELECT count(*) AS runs, count(*) FILTER (WHERE r.author_id = run.author_id) AS own
            FROM runs r WHERE r.device = run.device AND r.state IN ('dispatched', 'running')
        ) at_work
        CROSS JOIN (
            SELECT count(*) FILTER (WHERE d.available) AS workers,
                min(d.note) FILTER (WHERE NOT d.available) AS note
            FROM worker_devices d JOIN workers w ON w.owner = d.owner
            WHERE d.device = run.device AND w.heartbeat_at BETWEEN now() - fresh AND now() + fresh
        ) serving;
        IF first IS NULL OR its.place < first THEN
            next := its;
            first := its.place;
        END IF;
    END LOOP;
    IF first IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN json_build_object(
        'device', next.device, 'position', first, 'running', next.running,
        'own_running', next.own_running, 'own_before', next.own_before, 'others', next.others,
        'workers', next.workers, 'note', CASE WHEN next.workers = 0 THEN next.note END, 'mean_s',
        CASE WHEN next.workers > 0 THEN mean_run_s(next.device, next.open) END
    );
END;
$$;
