-- The transitions of a run.

CREATE FUNCTION guard_run_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM run_transitions WHERE before = OLD.state AND after = NEW.state) THEN
        RAISE EXCEPTION 'run % can''t go from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER runs_transition BEFORE UPDATE OF state ON runs
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION guard_run_transition();

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

-- What is told of how a run ended: of a failure on secret data, whether it was the output or the
-- rules. The same as `shown_of_secret` in `submissions/views.py`; a test compares them.
CREATE FUNCTION shown_verdict(_secret boolean, _fault fault, _verdict run_verdict)
RETURNS run_verdict LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN NOT _secret OR _fault IS DISTINCT FROM 'author' OR _verdict = 'rule_violation'
            THEN _verdict
        ELSE 'wrong_answer'
    END
$$;

-- The same as `submission_state` in `domain/states.py`; a test compares them.
CREATE FUNCTION submission_state(_submission bigint, _review review_state)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN bool_or(state IN ('dispatched', 'running')) THEN 'running'
        WHEN bool_and(state = 'queued') THEN 'queued'
        WHEN bool_or(state = 'queued') THEN 'running'
        WHEN bool_or(state = 'cancelled') THEN 'cancelled'
        WHEN _review = 'held' THEN 'held'
        ELSE 'finished'
    END
    FROM runs WHERE submission_id = _submission AND rejudge_id IS NULL
$$;

-- Lock the run, as whatever changes a run or its attempts does first, and say whether the attempt is
-- open and the owner's. Two statements: the second sees what happened while the first waited.
CREATE FUNCTION lock_attempt(_run bigint, _attempt bigint, _owner text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM runs WHERE id = _run FOR NO KEY UPDATE;
    RETURN EXISTS (
        SELECT 1 FROM attempts
        WHERE id = _attempt AND owner = _owner AND state IN ('launching', 'running')
    );
END;
$$;

-- A judge's progress: a dispatched run is running now, and its followers are told that before all else.
-- The run is locked. NULL as the submission: nobody follows it.
CREATE FUNCTION add_progress(_submission bigint, _run bigint, _kinds text[], _data text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE runs SET state = 'running' WHERE id = _run AND state = 'dispatched';
    IF FOUND THEN
        _kinds := array_prepend('running', _kinds);
        _data := array_prepend('{}', _data);
    END IF;
    IF _submission IS NOT NULL AND cardinality(_kinds) > 0 THEN
        PERFORM add_events(_submission, _run, _kinds, _data);
    END IF;
END;
$$;

-- The same of an attempt that may not be open any more or the owner's: then false, and nothing is
-- added.
CREATE FUNCTION add_own_progress(
    _submission bigint, _run bigint, _attempt bigint, _owner text, _kinds text[], _data text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT lock_attempt(_run, _attempt, _owner) THEN
        RETURN false;
    END IF;
    PERFORM add_progress(_submission, _run, _kinds, _data);
    RETURN true;
END;
$$;
