CREATE FUNCTION best_run(_board bigint, _device text, _author bigint)
RETURNS eligible_runs LANGUAGE plpgsql STABLE AS $$
DECLARE
    best eligible_runs%ROWTYPE;
    run eligible_runs%ROWTYPE;
    seen bytea[] := '{}';
BEGIN
    FOR run IN
        SELECT * FROM eligible_runs
        WHERE leaderboard_id = _board AND device = _device AND author_id = _author
        ORDER BY measured_at, achieved_at, run_id
    LOOP
        IF best.run_id IS NULL
            OR (run.rejudge_id IS NOT NULL AND run.rejudge_id IS DISTINCT FROM best.rejudge_id)
            OR (run.ci_high_s < best.ci_low_s AND NOT run.source_sha256 = ANY (seen))
        THEN
            best := run;
        END IF;
        seen := seen || run.source_sha256;
    END LOOP;
    RETURN best;
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

    SELECT * INTO best FROM best_run(_board, _device, _author);
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
    SELECT best.leaderboard_id, best.device, best.author_id, best.run_id, best.submission_id,
        best.score_s, best.ci_low_s, best.ci_high_s, best.achieved_at, false
    FROM (SELECT DISTINCT leaderboard_id, device, author_id FROM eligible_runs) own
    CROSS JOIN LATERAL best_run(own.leaderboard_id, own.device, own.author_id) best;
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
CREATE OR REPLACE FUNCTION rebuild_board_standings(_board bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    DELETE FROM standings WHERE leaderboard_id = _board;
    INSERT INTO standings
    SELECT best.leaderboard_id, best.device, best.author_id, best.run_id, best.submission_id,
        best.score_s, best.ci_low_s, best.ci_high_s, best.achieved_at, false
    FROM (
        SELECT DISTINCT leaderboard_id, device, author_id FROM eligible_runs
        WHERE leaderboard_id = _board
    ) own
    CROSS JOIN LATERAL best_run(own.leaderboard_id, own.device, own.author_id) best;
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
DROP VIEW standing_runs;
DROP AGGREGATE best_run_of(eligible_runs, boolean);
DROP FUNCTION better_run;
