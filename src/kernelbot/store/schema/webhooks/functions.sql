-- What webhooks are told, written in the transaction that causes it. Each message defers a background
-- task for whenever it is to be tried next. A task tries what is next in turn, not only its own message.

CREATE FUNCTION defer_delivery_at(_message bigint, _at timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM procrastinate_defer_jobs_v1(ARRAY[ROW(
        'webhooks', 'deliver_webhook', 0, NULL, NULL,
        jsonb_build_object('message', _message), _at
    )::procrastinate_job_to_defer_v1]);
END;
$$;

-- Whenever `next_at` is set, a task is deferred for then. So a message that was being delivered when
-- its process was killed is tried again, without anybody looking for it.
CREATE FUNCTION defer_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM defer_delivery_at(NEW.id, NEW.next_at);
    RETURN NULL;
END;
$$;
CREATE TRIGGER webhook_messages_due AFTER INSERT OR UPDATE OF next_at ON webhook_messages
    FOR EACH ROW WHEN (NEW.next_at IS NOT NULL) EXECUTE FUNCTION defer_delivery();

-- Tell a board's webhooks. `_subject`: what happened, which is told once.
CREATE FUNCTION tell_webhooks(_event text, _board bigint, _subject text, _data jsonb)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_messages (webhook_id, event, subject, data)
    SELECT id, _event, _subject, _data FROM webhooks
    WHERE leaderboard_id = _board AND disabled_at IS NULL AND _event = ANY(events)
    ON CONFLICT DO NOTHING;
$$;

-- Tell that all of a submission's own runs have ended: its board's webhooks, and its author's.
CREATE FUNCTION tell_verdict() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM webhooks WHERE disabled_at IS NULL) THEN
        RETURN NULL;
    END IF;
    -- As `add_event` does: of two runs that end at the same time, the later one sees both.
    PERFORM pg_advisory_xact_lock(NEW.submission_id);
    INSERT INTO webhook_messages (webhook_id, event, subject, data)
    SELECT w.id, 'submission.finished', s.id::text, jsonb_build_object(
        'submission_id', s.id, 'board', b.name, 'author', u.name, 'mode', s.mode,
        'file_name', s.file_name, 'review', s.review, 'submitted_at', s.created_at, 'runs', ended.runs
    )
    FROM submissions s
    JOIN leaderboards b ON b.id = s.leaderboard_id
    JOIN users u ON u.id = s.author_id
    JOIN webhooks w ON w.disabled_at IS NULL AND 'submission.finished' = ANY(w.events)
        AND (w.leaderboard_id = s.leaderboard_id
            OR (w.leaderboard_id IS NULL AND w.owner_id = s.author_id))
    CROSS JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object(
                'device', r.device, 'secret', r.secret, 'state', r.state,
                'verdict', shown_verdict(r.secret, r.fault, r.verdict),
                'fault', r.fault, 'score_s', r.score_s
            ) ORDER BY r.id) AS runs,
            bool_and(r.state IN ('finished', 'cancelled')) AS are_all
        FROM runs r WHERE r.submission_id = s.id AND r.rejudge_id IS NULL
    ) ended
    WHERE s.id = NEW.submission_id AND ended.are_all
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END;
$$;
-- At the transaction's end, when it is also decided whether the submission is held.
CREATE CONSTRAINT TRIGGER runs_told AFTER UPDATE OF state ON runs DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW
    WHEN (NEW.rejudge_id IS NULL AND NEW.duel_id IS NULL AND NEW.state IN ('finished', 'cancelled'))
    EXECUTE FUNCTION tell_verdict();

-- Tell that an author's new run is the best of all on its device. `_best_s`: the best score before,
-- and `_best_of` whose it was; NULL: there was none.
CREATE FUNCTION tell_record(
    _board bigint, _device text, _author bigint, _run bigint, _submission bigint,
    _score_s double precision, _best_s double precision, _best_of bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF _score_s >= _best_s OR NOT EXISTS (SELECT 1 FROM webhooks WHERE leaderboard_id = _board) THEN
        RETURN;
    END IF;
    PERFORM tell_webhooks('ranking.record', _board, _run::text, jsonb_build_object(
        'board', (SELECT name FROM leaderboards WHERE id = _board),
        'device', _device,
        'author', (SELECT name FROM users WHERE id = _author),
        'submission_id', _submission,
        'score_s', _score_s,
        'previous_score_s', _best_s,
        'previous_author', (SELECT name FROM users WHERE id = _best_of)
    ));
END;
$$;

-- Tell of deadlines that are within a day, and of those that have passed since a webhook is there.
-- A deadline that was moved is told of again; one that passed a week ago isn't, since what it was
-- told by is forgotten some time.
CREATE FUNCTION tell_deadlines() RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhook_messages (webhook_id, event, subject, data)
    SELECT w.id, due.event, extract(epoch FROM b.deadline)::text,
        jsonb_build_object('board', b.name, 'deadline', b.deadline)
    FROM leaderboards b
    JOIN webhooks w ON w.leaderboard_id = b.id AND w.disabled_at IS NULL
    CROSS JOIN LATERAL (
        SELECT CASE WHEN b.deadline <= now() THEN 'board.ended' ELSE 'board.ending' END AS event
    ) due
    WHERE b.deadline BETWEEN now() - interval '7 days' AND now() + interval '1 day'
        AND b.deadline > w.created_at
        AND due.event = ANY(w.events)
    ON CONFLICT DO NOTHING;
$$;
