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

-- End the open attempt of a run that is locked. Its judge's last progress, NULL if there is none, comes
-- before what is told next. False, and nothing is changed, if it had ended, or isn't the owner's.
CREATE FUNCTION close_attempt(
    _attempt bigint, _owner text, _state attempt_state, _result jsonb, _failure text,
    _followed bigint, _kinds text[], _data text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    closed bigint;
BEGIN
    UPDATE attempts
    SET state = _state, ended_at = now(), result = _result, failure = _failure, terms = NULL
    WHERE id = _attempt AND owner = _owner AND state IN ('launching', 'running')
    RETURNING run_id INTO closed;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF _kinds IS NOT NULL THEN
        PERFORM add_progress(_followed, closed, _kinds, _data);
    END IF;
    RETURN true;
END;
$$;

-- Write a run's verdict, and tell it to those who follow the submission `_followed` (NULL: nobody):
-- here, so that whoever ends a run waits for them before all that may follow. False, and nobody is
-- told, if the run had ended. If a public run isn't accepted, its submission is never timed: the run
-- on secret data that waits for it is deleted, before anybody is told that the submission has ended.
CREATE FUNCTION finish_run(
    _run bigint, _verdict run_verdict, _fault fault, _message text, _score_s double precision,
    _ci_low_s double precision, _ci_high_s double precision, _unverified boolean,
    _followed bigint, _told jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    shown_scatter double precision;
    shown_pairs bigint;
BEGIN
    IF _verdict <> 'accepted' THEN
        DELETE FROM runs s USING runs p
        WHERE p.id = _run AND NOT p.secret AND s.submission_id = p.submission_id
            AND s.device = p.device AND s.secret AND s.rejudge_id IS NULL AND s.state = 'queued';
    END IF;
    IF _score_s IS NOT NULL THEN
        SELECT shown.scatter, shown.pairs INTO shown_scatter, shown_pairs FROM runs r
        JOIN submissions s ON s.id = r.submission_id AND s.mode = 'leaderboard'
        CROSS JOIN LATERAL judging_scatter(s.leaderboard_id, r.device) shown
        WHERE r.id = _run AND r.secret;
    END IF;
    UPDATE runs SET state = 'finished', finished_at = now(), verdict = _verdict, fault = _fault,
        message = _message, score_s = _score_s, ci_low_s = _ci_low_s, ci_high_s = _ci_high_s,
        unverified = _unverified, scatter = coalesce(shown_scatter, 0), scatter_pairs = shown_pairs
    WHERE id = _run AND state IN ('dispatched', 'running');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF _followed IS NOT NULL THEN
        PERFORM add_event(_followed, _run, 'finished', _told);
    END IF;
    RETURN true;
END;
$$;

-- Lock the run, end its attempt with a result and write the verdict, as the two above do: one
-- statement, so it may be a transaction by itself. False, and nothing is changed, if the attempt had
-- ended, or isn't the owner's.
CREATE FUNCTION finish_attempt(
    _run bigint, _attempt bigint, _owner text, _result jsonb, _followed bigint, _kinds text[],
    _data text[], _verdict run_verdict, _fault fault, _message text, _score_s double precision,
    _ci_low_s double precision, _ci_high_s double precision, _unverified boolean, _told jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM runs WHERE id = _run FOR NO KEY UPDATE;
    IF NOT close_attempt(
        _attempt, _owner, 'finished', _result, NULL, _followed, _kinds, _data
    ) THEN
        RETURN false;
    END IF;
    PERFORM finish_run(
        _run, _verdict, _fault, _message, _score_s, _ci_low_s, _ci_high_s, _unverified, _followed,
        _told
    );
    RETURN true;
END;
$$;
