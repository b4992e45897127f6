-- depends: 0041.standings_version 0050.measured-again
-- Which run of each author stands, as a view: a ranking is rebuilt from it in one pass over the
-- board's runs, and one author's standing is a row of it.

-- One that was rejudged stands as it was then measured; the same source `again` doesn't count;
-- another one replaces what stands if its interval lies wholly below.
CREATE FUNCTION better_run(best eligible_runs, run eligible_runs, again boolean)
RETURNS eligible_runs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF best.run_id IS NULL
        OR (run.rejudge_id IS NOT NULL AND run.rejudge_id IS DISTINCT FROM best.rejudge_id)
        OR (run.ci_high_s < best.ci_low_s AND NOT again)
    THEN
        RETURN run;
    END IF;
    RETURN best;
END;
$$;
CREATE AGGREGATE best_run_of(run eligible_runs, again boolean) (
    SFUNC = better_run, STYPE = eligible_runs
);

-- In the order of measuring. What is grouped by is named first, so that asking for one author or
-- one board reads no others.
CREATE VIEW standing_runs AS
SELECT leaderboard_id, device, author_id, (best).run_id, (best).submission_id, (best).score_s,
    (best).ci_low_s, (best).ci_high_s, (best).achieved_at
FROM (
    SELECT leaderboard_id, device, author_id,
        best_run_of(run, again ORDER BY measured_at, achieved_at, run_id) AS best
    FROM (
        SELECT run.leaderboard_id, run.device, run.author_id, run.measured_at, run.achieved_at,
            run.run_id, run,
            row_number() OVER (
                PARTITION BY run.leaderboard_id, run.device, run.author_id, run.source_sha256
                ORDER BY run.measured_at, run.achieved_at, run.run_id
            ) > 1 AS again
        FROM eligible_runs run
    ) runs
    GROUP BY leaderboard_id, device, author_id
) authors;

CREATE OR REPLACE FUNCTION refresh_standing(_board bigint, _device text, _author bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old standings%ROWTYPE;
    best standing_runs%ROWTYPE;
BEGIN
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;

    SELECT * INTO best FROM standing_runs
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
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
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs;
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
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs
    WHERE leaderboard_id = _board;
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

DROP FUNCTION best_run;
