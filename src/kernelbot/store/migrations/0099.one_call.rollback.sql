DROP FUNCTION add_submission, queue_line;
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
