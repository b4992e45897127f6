-- depends: 0002.standings
-- Whose turn it is: authors take turns on each device, however much each has waiting.

-- The author is repeated here so that his next run is found by one index; it goes with the
-- submission, so it needs no key of its own. Only runs that wait or run need it: those that had
-- ended before this migration stay without.
ALTER TABLE runs ADD COLUMN author_id bigint;
-- Not to be judged before: the pause between two attempts.
ALTER TABLE runs ADD COLUMN ready_at timestamptz;
-- 1 for a ranked run, 0 for another. What waited for less because its author had much waiting is
-- now the turns' business.
UPDATE runs r SET author_id = s.author_id, priority = (s.mode = 'leaderboard')::int
FROM submissions s
WHERE s.id = r.submission_id AND r.state IN ('queued', 'dispatched', 'running');
ALTER TABLE runs ADD CONSTRAINT open_has_an_author
    CHECK (state NOT IN ('queued', 'dispatched', 'running') OR author_id IS NOT NULL) NOT VALID;
ALTER TABLE runs VALIDATE CONSTRAINT open_has_an_author;

-- What an author has waiting and running on a device, and the number of his last turn. Turns are
-- counted and not dated, so that a clock that jumps favours nobody. `last_ranked_turn`: where
-- ranked runs go first they have turns of their own.
CREATE SEQUENCE queue_turn_numbers;
CREATE TABLE queue_turns (
    device text NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    waiting integer NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    waiting_ranked integer NOT NULL DEFAULT 0 CHECK (waiting_ranked BETWEEN 0 AND waiting),
    running integer NOT NULL DEFAULT 0 CHECK (running >= 0),
    last_turn bigint NOT NULL DEFAULT 0,
    last_ranked_turn bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (device, author_id)
);
CREATE INDEX queue_turns_author ON queue_turns (author_id);
CREATE INDEX queue_turns_waiting ON queue_turns (device) WHERE waiting > 0;
INSERT INTO queue_turns (device, author_id, waiting, waiting_ranked, running)
SELECT device, author_id,
    count(*) FILTER (WHERE state = 'queued'),
    count(*) FILTER (WHERE state = 'queued' AND priority > 0),
    count(*) FILTER (WHERE state IN ('dispatched', 'running'))
FROM runs WHERE state IN ('queued', 'dispatched', 'running')
GROUP BY device, author_id;

DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (device, author_id, priority DESC, id) WHERE state = 'queued';
-- How long runs take on a device of late.
CREATE INDEX runs_ended ON runs (device, finished_at DESC) INCLUDE (started_at)
    WHERE state = 'finished';

CREATE FUNCTION name_run_author() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.author_id IS NULL THEN
        SELECT author_id, (mode = 'leaderboard')::int INTO NEW.author_id, NEW.priority
        FROM submissions WHERE id = NEW.submission_id;
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER runs_author_insert BEFORE INSERT ON runs
    FOR EACH ROW WHEN (NEW.author_id IS NULL) EXECUTE FUNCTION name_run_author();
CREATE TRIGGER runs_author_update BEFORE UPDATE OF state ON runs
    FOR EACH ROW WHEN (NEW.author_id IS NULL) EXECUTE FUNCTION name_run_author();

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
        RETURN NULL;
    END IF;
    waits := waits + (NEW.state = 'queued')::int;
    works := works + (NEW.state IN ('dispatched', 'running'))::int;
    IF waits <> 0 OR works <> 0 THEN
        PERFORM count_turn(NEW, waits, works);
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

-- The run to judge next on a device, locked, and its author's turn taken; NULL when nothing may
-- be judged. Of the authors with something waiting and fewer than `_running_limit` runs at work
-- (NULL: no limit), the one whose last turn is the longest ago; of his runs the
-- oldest. With `_ranked_first` every ranked run goes before any other. The lock on the turn makes
-- two who ask at once take different runs, and keeps the limit exact.
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
            WHERE device = _device AND waiting > 0 AND (NOT ranked OR waiting_ranked > 0)
            ORDER BY CASE WHEN ranked THEN last_ranked_turn ELSE last_turn END, author_id
        LOOP
            PERFORM 1 FROM queue_turns
            WHERE device = _device AND author_id = turn.author_id AND waiting > 0
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

-- How many runs of its device are judged before a waiting run, plus one, if nobody submits more:
-- in each round every author with something left has one turn.
CREATE FUNCTION queue_place(_run bigint, _ranked_first boolean)
RETURNS bigint LANGUAGE sql STABLE AS $$
    WITH own AS (
        SELECT r.device, r.author_id, r.priority,
            CASE WHEN _ranked_first AND r.priority > 0 THEN t.last_ranked_turn
                ELSE t.last_turn END AS last_turn,
            (
                SELECT count(*) FROM runs o
                WHERE o.device = r.device AND o.author_id = r.author_id AND o.state = 'queued'
                    AND o.id <= r.id AND (NOT _ranked_first OR (o.priority > 0) = (r.priority > 0))
            ) AS round
        FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
        WHERE r.id = _run AND r.state = 'queued'
    )
    SELECT own.round + coalesce(sum(
        CASE WHEN t.author_id = own.author_id THEN 0
            ELSE least(
                CASE WHEN NOT _ranked_first THEN t.waiting
                    WHEN own.priority > 0 THEN t.waiting_ranked
                    ELSE t.waiting - t.waiting_ranked END,
                own.round - 1
                    + ((
                        CASE WHEN _ranked_first AND own.priority > 0 THEN t.last_ranked_turn
                            ELSE t.last_turn END,
                        t.author_id
                    ) < (own.last_turn, own.author_id))::int
            ) END
        + CASE WHEN _ranked_first AND own.priority = 0 THEN t.waiting_ranked ELSE 0 END
    ), 0)
    FROM own LEFT JOIN queue_turns t ON t.device = own.device AND t.waiting > 0
    GROUP BY own.round;
$$;
