-- Adding a submission, its events, and what organisers may decide about it.

-- Numbers the event, and wakes the submission's followers when the transaction commits. Because of
-- the lock, ids become visible in their order, so that a reader who resumes after one misses none.
CREATE FUNCTION add_event(_submission bigint, _run bigint, _kind text, _data jsonb)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(_submission);
    INSERT INTO events (submission_id, id, run_id, kind, data)
    SELECT _submission, coalesce(max(id), 0) + 1, _run, _kind, _data
    FROM events WHERE submission_id = _submission;
    PERFORM pg_notify('kernelbot_events', _submission::text);
END;
$$;

-- Several of a run in their order, as `add_event` adds one.
CREATE FUNCTION add_events(_submission bigint, _run bigint, _kinds text[], _data text[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(_submission);
    INSERT INTO events (submission_id, id, run_id, kind, data)
    SELECT _submission, last.id + e.place, _run, e.kind, e.data::jsonb
    FROM (SELECT coalesce(max(id), 0) AS id FROM events WHERE submission_id = _submission) last,
        unnest(_kinds, _data) WITH ORDINALITY AS e (kind, data, place);
    PERFORM pg_notify('kernelbot_events', _submission::text);
END;
$$;

-- Count one more use towards a limit; returns NULL. If it would exceed the limit it isn't counted:
-- returns the seconds until one is allowed. Exact also with concurrent calls: those of one author
-- wait for each other until their transactions end.
CREATE FUNCTION use_limit(_board bigint, _author bigint, _category limit_category, _max integer)
RETURNS double precision LANGUAGE plpgsql AS $$
DECLARE
    oldest timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(
        hashtextextended('limit:' || _board || ':' || _author || ':' || _category, 0)
    );
    -- A use in the future is from before the clock was set back: nobody waits for it.
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

CREATE FUNCTION guard_review_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM review_transitions WHERE before = OLD.review AND after = NEW.review
    ) THEN
        RAISE EXCEPTION 'submission % can''t go from % to %', OLD.id, OLD.review, NEW.review
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER submissions_review BEFORE UPDATE OF review ON submissions
    FOR EACH ROW WHEN (OLD.review <> NEW.review) EXECUTE FUNCTION guard_review_transition();

-- Add a submission with its source, its runs and their first events; returns a row for each run. One
-- statement, so it may be a transaction by itself. If more than `_waiting_limit` runs of its author would
-- wait on a device, nothing is added: one row has that device and no submission. If others of theirs came
-- at the same moment, it raises `raise_exception`, with the device as the detail; that is exact, since
-- the runs have locked the author's turn. `line`: the result of `queue_line`.
CREATE FUNCTION add_submission(
    _board bigint, _version bigint, _author bigint, _sha256 bytea, _content text,
    _file_name text, _mode submission_mode, _devices text[], _ranked_first boolean,
    _fresh_s double precision, _limited boolean, _waiting_limit integer, _code_sha256 bytea
) RETURNS TABLE (
    submission_id bigint, id bigint, device text, secret boolean, created_at timestamptz, line json
) LANGUAGE plpgsql AS $$
DECLARE
    ranked boolean := _mode = 'leaderboard';
    waiting integer;
BEGIN
    -- Each error is a line in the database's log: those who send too much often get none.
    SELECT t.device INTO device FROM queue_turns t
    WHERE t.device = ANY(_devices) AND t.author_id = _author
        AND t.waiting + CASE WHEN ranked THEN 2 ELSE 1 END > _waiting_limit
    ORDER BY t.device LIMIT 1;
    IF FOUND THEN
        RETURN NEXT;
        RETURN;
    END IF;

    -- The update changes nothing and locks the row, so that nobody deletes it meanwhile.
    INSERT INTO sources AS c (sha256, content) VALUES (_sha256, _content)
    ON CONFLICT (sha256) DO UPDATE SET sha256 = excluded.sha256;

    INSERT INTO submissions AS s (
        leaderboard_id, problem_version_id, author_id, source_sha256, file_name, mode, code_sha256
    )
    VALUES (_board, _version, _author, _sha256, _file_name, _mode, _code_sha256)
    RETURNING s.id INTO submission_id;

    -- That a run on secret data waits is told once its submission's tests have passed.
    -- Devices in one order, since each locks the author's turn. Nobody can follow the submission
    -- yet, so nobody is notified, and no other event can be numbered meanwhile.
    WITH added AS (
        INSERT INTO runs AS r (submission_id, device, secret, author_id, priority)
        SELECT submission_id, d, s, _author, ranked::int
        FROM unnest(_devices) d CROSS JOIN unnest(CASE WHEN ranked THEN '{f,t}' ELSE '{f}' END::boolean[]) s
        ORDER BY d, s
        RETURNING r.id, r.secret
    )
    INSERT INTO events AS e (submission_id, id, run_id, kind, data)
    SELECT submission_id, row_number() OVER (ORDER BY added.id), added.id, 'queued', '{}'
    FROM added WHERE NOT added.secret;

    line := queue_line(submission_id, _ranked_first, _fresh_s, _limited);
    FOR id, device, secret, created_at, waiting IN
        SELECT r.id, r.device, r.secret, r.created_at, t.waiting
        FROM runs r JOIN queue_turns t ON t.device = r.device AND t.author_id = r.author_id
        WHERE r.submission_id = add_submission.submission_id ORDER BY r.id
    LOOP
        IF waiting > _waiting_limit THEN
            RAISE EXCEPTION 'too many runs wait' USING DETAIL = device;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$$;

-- What compilers said of a submission. `before_id`: the report on its author's previous version, the
-- newest before it with another source for the same board and device, of which kernels are known, if
-- that is one of the last twenty: each is read to see whether it has any, and a report may be large.
CREATE VIEW shown_preflights AS
SELECT p.id, p.submission_id, p.device, p.report, (
    SELECT earlier.id FROM (
        SELECT q.id, q.report, o.id AS submission_id
        FROM submissions o JOIN preflights q ON q.submission_id = o.id AND q.device = p.device
        WHERE o.leaderboard_id = s.leaderboard_id AND o.author_id = s.author_id AND o.id < s.id
            AND o.source_sha256 <> s.source_sha256
        ORDER BY o.id DESC LIMIT 20
    ) earlier
    WHERE earlier.report #> '{kernels,0}' IS NOT NULL
    ORDER BY earlier.submission_id DESC LIMIT 1
) AS before_id
FROM preflights p JOIN submissions s ON s.id = p.submission_id;

-- The numbers of a submission's reports, each with that on its author's previous version. Most have none.
CREATE FUNCTION preflights_of(_submission bigint) RETURNS bigint[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM preflights p WHERE p.submission_id = _submission) THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(
        SELECT ARRAY[f.id, f.before_id] FROM shown_preflights f
        WHERE f.submission_id = _submission ORDER BY f.device
    );
END;
$$;
