DROP FUNCTION best_run;
DROP VIEW eligible_runs;
DROP VIEW rankable_runs;
DELETE FROM runs WHERE rejudge_id IS NOT NULL;
DROP INDEX runs_rejudge_waiting;
DROP INDEX runs_rejudge;
ALTER TABLE runs
    DROP CONSTRAINT runs_once,
    DROP CONSTRAINT rejudged_on_secret_data,
    DROP COLUMN rejudge_id,
    ADD CONSTRAINT runs_submission_id_device_secret_key UNIQUE (submission_id, device, secret);
DROP TABLE rejudges;
CREATE VIEW eligible_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    coalesce(r.ci_low_s, r.score_s) AS ci_low_s,
    coalesce(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at
FROM submissions s
JOIN users u ON u.id = s.author_id AND u.banned_at IS NULL
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN problem_versions measured ON measured.id = s.problem_version_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = measured.judging_hash
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
JOIN leaderboard_devices offered
    ON offered.leaderboard_id = s.leaderboard_id AND offered.device = r.device
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.submission_id = s.id AND c.state = 'cancelled');
CREATE OR REPLACE FUNCTION rebuild_board_standings(_board bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    DELETE FROM standings WHERE leaderboard_id = _board;
    INSERT INTO standings
    SELECT DISTINCT ON (e.device, e.author_id)
        e.leaderboard_id, e.device, e.author_id, e.run_id, e.submission_id, e.score_s,
        e.ci_low_s, e.ci_high_s, e.achieved_at, false
    FROM eligible_runs e
    WHERE e.leaderboard_id = _board
    ORDER BY e.device, e.author_id, e.score_s, e.achieved_at, e.run_id;
    FOR place IN SELECT device FROM leaderboard_devices WHERE leaderboard_id = _board LOOP
        PERFORM mark_leaders(_board, place.device, '-Infinity', '-infinity', 0);
        UPDATE leaderboard_devices d
        SET authors = (
            SELECT count(*) FROM standings s
            WHERE s.leaderboard_id = _board AND s.device = place.device
        )
        WHERE d.leaderboard_id = _board AND d.device = place.device;
    END LOOP;
END;
$$;
CREATE OR REPLACE FUNCTION refresh_standing(_board bigint, _device text, _author bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old standings%ROWTYPE;
    best eligible_runs%ROWTYPE;
BEGIN
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;

    SELECT * INTO best FROM eligible_runs
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author
    ORDER BY score_s, achieved_at, run_id LIMIT 1;
    SELECT * INTO old FROM standings
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;

    IF old.run_id IS NOT DISTINCT FROM best.run_id AND old.score_s IS NOT DISTINCT FROM best.score_s THEN
        RETURN;
    END IF;
    IF old.run_id IS NOT NULL THEN
        DELETE FROM standings
        WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
        PERFORM mark_leaders(_board, _device, old.score_s, old.achieved_at, _author);
    END IF;
    IF best.run_id IS NOT NULL THEN
        INSERT INTO standings VALUES (
            _board, _device, _author, best.run_id, best.submission_id, best.score_s,
            best.ci_low_s, best.ci_high_s, best.achieved_at, false
        );
        PERFORM mark_leaders(_board, _device, best.score_s, best.achieved_at, _author);
    END IF;
    UPDATE leaderboard_devices
    SET authors = authors + (best.run_id IS NOT NULL)::int - (old.run_id IS NOT NULL)::int
    WHERE leaderboard_id = _board AND device = _device
        AND (best.run_id IS NULL) <> (old.run_id IS NULL);
END;
$$;
CREATE OR REPLACE FUNCTION rebuild_standings() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    board record;
BEGIN
    PERFORM 1 FROM leaderboard_devices ORDER BY leaderboard_id, device FOR NO KEY UPDATE;
    DELETE FROM standings;
    INSERT INTO standings
    SELECT DISTINCT ON (leaderboard_id, device, author_id)
        leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM eligible_runs
    ORDER BY leaderboard_id, device, author_id, score_s, achieved_at, run_id;
    FOR board IN SELECT leaderboard_id, device FROM leaderboard_devices LOOP
        PERFORM mark_leaders(board.leaderboard_id, board.device, '-Infinity', '-infinity', 0);
        UPDATE leaderboard_devices d
        SET authors = (
            SELECT count(*) FROM standings s
            WHERE s.leaderboard_id = d.leaderboard_id AND s.device = d.device
        )
        WHERE d.leaderboard_id = board.leaderboard_id AND d.device = board.device;
    END LOOP;
END;
$$;
CREATE OR REPLACE FUNCTION next_run(_device text, _running_limit integer, _ranked_first boolean)
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
SELECT rebuild_standings();
