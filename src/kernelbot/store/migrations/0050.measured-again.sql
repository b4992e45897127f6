-- depends: 0030.organising 0040.fair_queue
-- Rankings that noise can't climb: what was measured again in one go decides, the same code isn't
-- tried again until the noise is kind, and only a real improvement replaces an author's best.

CREATE TABLE rejudges (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    problem_version_id bigint NOT NULL REFERENCES problem_versions,
    created_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE INDEX rejudges_board ON rejudges (leaderboard_id, device, id DESC);
CREATE UNIQUE INDEX rejudges_at_work ON rejudges (leaderboard_id, device) WHERE finished_at IS NULL;

ALTER TABLE runs
    ADD COLUMN rejudge_id bigint REFERENCES rejudges ON DELETE CASCADE,
    DROP CONSTRAINT runs_submission_id_device_secret_key,
    ADD CONSTRAINT runs_once UNIQUE NULLS NOT DISTINCT (submission_id, device, secret, rejudge_id),
    ADD CONSTRAINT rejudged_on_secret_data CHECK (rejudge_id IS NULL OR secret);
CREATE INDEX runs_rejudge ON runs (rejudge_id);

-- What may be ranked, of any version of the problem. A finished rejudge's measurement takes the
-- place of those before, unless it was our failure.
CREATE VIEW rankable_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    coalesce(r.ci_low_s, r.score_s) AS ci_low_s,
    coalesce(r.ci_high_s, r.score_s) AS ci_high_s,
    s.created_at AS achieved_at,
    s.source_sha256,
    r.rejudge_id,
    coalesce(j.created_at, s.created_at) AS measured_at,
    measured.judging_hash
FROM submissions s
JOIN users u ON u.id = s.author_id AND u.banned_at IS NULL
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
LEFT JOIN rejudges j ON j.id = r.rejudge_id
JOIN problem_versions measured
    ON measured.id = coalesce(j.problem_version_id, s.problem_version_id)
JOIN leaderboard_devices offered
    ON offered.leaderboard_id = s.leaderboard_id AND offered.device = r.device
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND (r.rejudge_id IS NULL OR j.finished_at IS NOT NULL)
    AND NOT EXISTS (
        SELECT 1 FROM runs c
        WHERE c.submission_id = s.id AND c.state = 'cancelled' AND c.rejudge_id IS NULL
    )
    AND NOT EXISTS (
        SELECT 1 FROM runs l
        JOIN rejudges k ON k.id = l.rejudge_id AND k.finished_at IS NOT NULL
        WHERE l.submission_id = s.id AND l.device = r.device
            AND l.rejudge_id > coalesce(r.rejudge_id, 0)
            AND l.state = 'finished' AND (l.fault IS NULL OR l.fault = 'author')
    );

-- What counts. Nothing else in the system decides this.
CREATE OR REPLACE VIEW eligible_runs AS
SELECT r.leaderboard_id, r.device, r.author_id, r.run_id, r.submission_id, r.score_s,
    r.ci_low_s, r.ci_high_s, r.achieved_at, r.source_sha256, r.rejudge_id, r.measured_at
FROM rankable_runs r
JOIN leaderboards b ON b.id = r.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = r.judging_hash;

-- Which of an author's runs stands, all NULL for none. In the order of measuring: one that was
-- rejudged stands as it was then measured; the same source again doesn't count; another one
-- replaces what stands if its interval lies wholly below.
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

-- As it was, but what is rejudged goes before everything else: it is to be measured in one go.
CREATE INDEX runs_rejudge_waiting ON runs (device, id)
    WHERE state = 'queued' AND rejudge_id IS NOT NULL;
CREATE OR REPLACE FUNCTION next_run(_device text, _running_limit integer, _ranked_first boolean)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    ranked boolean;
    turn record;
    found_id bigint;
BEGIN
    SELECT id INTO found_id FROM runs
    WHERE device = _device AND state = 'queued' AND rejudge_id IS NOT NULL
        AND (ready_at IS NULL OR ready_at NOT BETWEEN now() AND now() + interval '1 minute')
    ORDER BY id LIMIT 1
    FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
        RETURN found_id;
    END IF;
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
