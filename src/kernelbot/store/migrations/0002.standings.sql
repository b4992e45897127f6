-- depends: 0001.schema
-- The ranking: each author's best eligible run per board and device.

-- What counts. Nothing else in the system decides this.
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
JOIN runs r ON r.submission_id = s.id AND r.secret
    AND r.state = 'finished' AND r.verdict = 'accepted' AND r.score_s IS NOT NULL
JOIN runs p ON p.submission_id = s.id AND p.device = r.device AND NOT p.secret
    AND p.state = 'finished' AND p.verdict = 'accepted'
WHERE s.mode = 'leaderboard'
    AND s.review = 'clear'
    AND NOT EXISTS (SELECT 1 FROM runs c WHERE c.submission_id = s.id AND c.state = 'cancelled');

-- `leads`: the first of those that share a rank. A row shares its leader's rank when its interval
-- overlaps the leader's; a rank is 1 + the number of rows before the leader.
CREATE TABLE standings (
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    score_s double precision NOT NULL,
    ci_low_s double precision NOT NULL,
    ci_high_s double precision NOT NULL,
    achieved_at timestamptz NOT NULL,
    leads boolean NOT NULL,
    PRIMARY KEY (leaderboard_id, device, author_id),
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE UNIQUE INDEX standings_order
    ON standings (leaderboard_id, device, score_s, achieved_at, author_id)
    INCLUDE (leads, ci_low_s, ci_high_s, submission_id, run_id);
CREATE INDEX standings_author ON standings (author_id);
CREATE INDEX standings_submission ON standings (submission_id);
CREATE INDEX standings_run ON standings (run_id);

-- Decide again who leads, from a place in the order on, until a leader past it was one before:
-- from there on nothing can differ.
CREATE FUNCTION mark_leaders(
    _board bigint, _device text, _score_s double precision, _at timestamptz, _author bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leader_high_s double precision;
    place record;
    should_lead boolean;
BEGIN
    SELECT ci_high_s INTO leader_high_s FROM standings
    WHERE leaderboard_id = _board AND device = _device AND leads
        AND (score_s, achieved_at, author_id) < (_score_s, _at, _author)
    ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1;

    FOR place IN
        SELECT author_id, ci_low_s, ci_high_s, leads,
            (score_s, achieved_at, author_id) > (_score_s, _at, _author) AS past
        FROM standings
        WHERE leaderboard_id = _board AND device = _device
            AND (score_s, achieved_at, author_id) >= (_score_s, _at, _author)
        ORDER BY score_s, achieved_at, author_id
    LOOP
        should_lead := leader_high_s IS NULL OR place.ci_low_s > leader_high_s;
        EXIT WHEN should_lead AND place.leads AND place.past;
        IF should_lead <> place.leads THEN
            UPDATE standings SET leads = should_lead
            WHERE leaderboard_id = _board AND device = _device AND author_id = place.author_id;
        END IF;
        IF should_lead THEN
            leader_high_s := place.ci_high_s;
        END IF;
    END LOOP;
END;
$$;

-- Bring one author's standing in line with `eligible_runs`. Called in the transaction that wrote
-- or revoked a verdict. Locks the board's device, so that rankings change one at a time.
CREATE FUNCTION refresh_standing(_board bigint, _device text, _author bigint)
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

-- All of it again from `eligible_runs`.
CREATE FUNCTION rebuild_standings() RETURNS void LANGUAGE plpgsql AS $$
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

-- An author's rank, NULL without a standing. An index-only count of those before the leader.
CREATE FUNCTION standing_rank(_board bigint, _device text, _author bigint)
RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT 1 + (
        SELECT count(*) FROM standings before
        WHERE before.leaderboard_id = _board AND before.device = _device
            AND (before.score_s, before.achieved_at, before.author_id)
                < (leader.score_s, leader.achieved_at, leader.author_id)
    )
    FROM standings own
    CROSS JOIN LATERAL (
        SELECT score_s, achieved_at, author_id FROM standings
        WHERE leaderboard_id = _board AND device = _device AND leads
            AND (score_s, achieved_at, author_id) <= (own.score_s, own.achieved_at, own.author_id)
        ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
    ) leader
    WHERE own.leaderboard_id = _board AND own.device = _device AND own.author_id = _author;
$$;
