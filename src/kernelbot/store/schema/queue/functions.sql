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

-- How many runs of its device are judged before a waiting run, plus one, if nobody submits more:
-- in each round every author with waiting runs has one turn. Duels count that are about to get a
-- run. NULL for one that doesn't wait.
-- A function, because its plan is made once per connection. Of the author's own runs it counts
-- those behind and not those before: most callers have just submitted, so there are none behind.
CREATE FUNCTION queue_position(_run bigint, _ranked_first boolean)
RETURNS bigint LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    own record;
    before_it bigint;
BEGIN
    SELECT r.device, r.author_id, r.repeats, r.priority > 0 AS ranked,
        CASE WHEN _ranked_first AND r.priority > 0 THEN t.last_ranked_turn
            ELSE t.last_turn END AS last_turn,
        CASE WHEN NOT _ranked_first THEN t.waiting
            WHEN r.priority > 0 THEN t.waiting_ranked
            ELSE t.waiting - t.waiting_ranked END - (
            SELECT count(*) FROM runs behind
            WHERE behind.device = r.device AND behind.author_id = r.author_id
                AND behind.state = 'queued' AND behind.priority IN (0, 1) AND behind.id > _run
                AND (NOT _ranked_first OR behind.priority = r.priority)
        ) AS round
    INTO own
    FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
    WHERE r.id = _run AND r.state = 'queued';
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF own.repeats > 0 THEN  -- before all others
        RETURN 1;
    END IF;
    SELECT coalesce(sum(
        CASE WHEN t.author_id = own.author_id THEN 0
            ELSE least(
                CASE WHEN NOT _ranked_first THEN t.waiting
                    WHEN own.ranked THEN t.waiting_ranked
                    ELSE t.waiting - t.waiting_ranked END,
                own.round - 1
                    + ((
                        CASE WHEN _ranked_first AND own.ranked THEN t.last_ranked_turn
                            ELSE t.last_turn END,
                        t.author_id
                    ) < (own.last_turn, own.author_id))::int
            ) END
        + CASE WHEN _ranked_first AND NOT own.ranked THEN t.waiting_ranked ELSE 0 END
    ), 0) INTO before_it
    FROM (
        SELECT waits.author_id, sum(waits.waiting) AS waiting,
            sum(waits.waiting_ranked) AS waiting_ranked, max(waits.last_turn) AS last_turn,
            max(waits.last_ranked_turn) AS last_ranked_turn
        FROM (
            SELECT q.author_id, q.waiting, q.waiting_ranked, q.last_turn, q.last_ranked_turn
            FROM queue_turns q WHERE q.device = own.device AND q.waits
            UNION ALL
            SELECT d.author_id, d.duels, d.duels, coalesce(q.last_turn, 0),
                coalesce(q.last_ranked_turn, 0)
            FROM coming_duels(own.device) d
            LEFT JOIN queue_turns q ON q.device = own.device AND q.author_id = d.author_id
        ) waits
        GROUP BY waits.author_id
    ) t;
    RETURN own.round + before_it;
END;
$$;

-- The place of the submission's run whose turn comes first, and what an estimate of the wait needs;
-- NULL if nothing of it waits. `own_*`: runs of its author; `mean_s`: how long a run takes of those
-- that wait or run, each by the latest ones of its mode: what is timed takes far longer than tests,
-- and a duel longer than both. NULL if none of most of their modes has ended yet;
-- `others`: the waiting runs of others, if there is a limit on running (`_limited`); `note`: what a
-- worker says of the device if none can use it.
CREATE FUNCTION queue_line(
    _submission bigint, _ranked_first boolean, _fresh_s double precision, _limited boolean
) RETURNS json LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    next record;
    fresh interval := make_interval(secs => _fresh_s);
    running bigint;
    own_running bigint;
    own_before bigint;
    others bigint := 0;
    workers bigint;
    waiting bigint;
    coming bigint;
    dueled bigint;
    mean_s double precision;
    duel_s double precision;
    note text;
BEGIN
    -- Its own runs first: with old statistics the planner may think that few runs wait at all.
    WITH its AS MATERIALIZED (SELECT r.* FROM runs r WHERE r.submission_id = _submission)
    SELECT its.id, its.device, its.author_id, queue_position(its.id, _ranked_first) AS place
    INTO next
    FROM its WHERE its.state = 'queued' AND its.rejudge_id IS NULL
    ORDER BY place LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- One statement: to begin another one costs more than what these read.
    SELECT at_work.runs, at_work.own, turns.own - 1 - behind.runs, turns.waiting,
        CASE WHEN _limited THEN turns.others + duels.others ELSE 0 END, duels.coming,
        serving.workers, serving.note
    INTO running, own_running, own_before, waiting, others, coming, workers, note
    FROM (
        SELECT count(*) AS runs, count(*) FILTER (WHERE r.author_id = next.author_id) AS own
        FROM runs r WHERE r.device = next.device AND r.state IN ('dispatched', 'running')
    ) at_work, (
        SELECT count(*) AS runs FROM runs r
        WHERE r.device = next.device AND r.author_id = next.author_id AND r.state = 'queued'
            AND r.priority IN (0, 1) AND r.id > next.id
    ) behind, (
        SELECT coalesce(sum(t.waiting), 0) AS waiting,
            coalesce(sum(t.waiting) FILTER (WHERE t.author_id <> next.author_id), 0) AS others,
            max(t.waiting) FILTER (WHERE t.author_id = next.author_id) AS own
        FROM queue_turns t WHERE t.device = next.device AND t.waits
    ) turns, (
        SELECT coalesce(sum(d.duels), 0) AS coming,
            coalesce(sum(d.duels) FILTER (WHERE d.author_id <> next.author_id), 0) AS others
        FROM coming_duels(next.device) d
    ) duels, (
        SELECT count(*) FILTER (WHERE d.available) AS workers,
            min(d.note) FILTER (WHERE NOT d.available) AS note
        FROM worker_devices d JOIN workers w ON w.owner = d.owner
        WHERE d.device = next.device AND w.heartbeat_at BETWEEN now() - fresh AND now() + fresh
    ) serving;
    IF workers = 0 THEN
        -- Nobody judges, so nobody knows how long it takes.
        RETURN json_build_object(
            'device', next.device, 'position', next.place, 'running', running,
            'own_running', own_running, 'own_before', own_before, 'others', others,
            'workers', workers, 'note', note, 'mean_s', NULL
        );
    END IF;
    -- Modes are looked up one by one, and what waits is read in the order of its index: otherwise
    -- the planner reads a whole table for fifty rows of it.
    WITH lately AS (
        SELECT s.mode, r.secret, r.duel_id IS NOT NULL AS is_duel,
            greatest(extract(epoch FROM r.finished_at - r.started_at), 0) AS took_s
        FROM (
            SELECT * FROM runs
            WHERE device = next.device AND state = 'finished' AND started_at IS NOT NULL
            ORDER BY finished_at DESC LIMIT 50
        ) r
        LEFT JOIN LATERAL (SELECT mode FROM submissions WHERE id = r.submission_id LIMIT 1) s ON true
    ),
    took AS (
        SELECT l.mode, l.secret, avg(l.took_s) AS mean_s
        FROM lately l WHERE NOT l.is_duel GROUP BY l.mode, l.secret
    ),
    -- So many show what the others are; all would cost each look at a long queue.
    some_waiting AS (
        SELECT r.submission_id, r.secret FROM runs r
        WHERE r.device = next.device AND r.state = 'queued' AND r.rejudge_id IS NULL
        ORDER BY r.author_id, r.priority DESC, r.id LIMIT 50
    ),
    at_work AS (
        SELECT r.submission_id, r.secret FROM runs r
        WHERE r.device = next.device AND r.state IN ('dispatched', 'running')
            AND r.duel_id IS NULL
    )
    SELECT CASE WHEN count(t.mean_s) * 2 >= count(*) THEN avg(t.mean_s) END,
        (SELECT avg(l.took_s) FROM lately l WHERE l.is_duel)
    INTO mean_s, duel_s
    FROM (SELECT * FROM some_waiting UNION ALL SELECT * FROM at_work) r
    CROSS JOIN LATERAL (SELECT mode FROM submissions WHERE id = r.submission_id LIMIT 1) s
    LEFT JOIN took t ON t.mode = s.mode AND t.secret = r.secret;
    IF mean_s IS NOT NULL AND duel_s IS NOT NULL THEN
        SELECT count(*) INTO dueled FROM duels d WHERE d.device = next.device AND d.state = 'waiting';
        mean_s := mean_s
            + (duel_s - mean_s) * least(1, dueled / (waiting + coming + running)::float8);
    END IF;
    RETURN json_build_object(
        'device', next.device, 'position', next.place, 'running', running,
        'own_running', own_running, 'own_before', own_before, 'others', others,
        'workers', workers, 'note', NULL, 'mean_s', mean_s
    );
END;
$$;
