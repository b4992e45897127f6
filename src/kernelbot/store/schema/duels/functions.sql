-- Duels: which are wanted, and what they decide. A duel's `run_id` is the run that wants to pass, or
-- stands behind; its ratio is that of this run's time to the other's.

CREATE FUNCTION guard_duel_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM duel_transitions WHERE before = OLD.state AND after = NEW.state
    ) THEN
        RAISE EXCEPTION 'duel % can''t go from % to %', OLD.id, OLD.state, NEW.state
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END;
$$;
CREATE TRIGGER duels_transition BEFORE UPDATE OF state ON duels
    FOR EACH ROW WHEN (OLD.state <> NEW.state) EXECUTE FUNCTION guard_duel_transition();

-- For how many places of a board neighbours are dueled; NULL: there are no duels at all, because
-- they are switched off, or the board's problem is judged by its own script, which can't.
CREATE FUNCTION duel_places(_board bigint) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT p.duel_places
    FROM platform p
    CROSS JOIN leaderboards b
    JOIN problem_versions v ON v.id = b.problem_version_id AND v.harness = 'native'
    WHERE b.id = _board
$$;

-- Whether a run has had its duel with an author's best, or one that it didn't win with a run that
-- was no better: so as the best becomes better, the others aren't dueled with it again and again.
CREATE FUNCTION had_own_duel(_run bigint, _best standing_runs)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM duels d JOIN runs opponent ON opponent.id = d.opponent_run_id
        WHERE d.run_id = _run AND d.reason = 'own_best' AND (
            opponent.id = _best.run_id
            OR (d.state = 'measured' AND NOT d.wins AND opponent.score_s >= _best.score_s)
        )
    );
$$;

-- Request the duels by which an author's runs may replace their `best`: of those whose median is
-- below. Runs from before a rejudge don't compete, nor does the same code again. The first question
-- is cheap, and seldom answered with yes.
CREATE FUNCTION request_own_duels(_best standing_runs) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM submissions s
        JOIN runs r ON r.submission_id = s.id AND r.device = _best.device AND r.secret
        WHERE s.leaderboard_id = _best.leaderboard_id AND s.author_id = _best.author_id
            AND s.mode = 'leaderboard' AND r.score_s < _best.score_s
            AND NOT had_own_duel(r.id, _best)
    ) OR duel_places(_best.leaderboard_id) IS NULL THEN
        RETURN;
    END IF;
    INSERT INTO duels (
        leaderboard_id, device, reason, submission_id, opponent_id, run_id, opponent_run_id
    )
    SELECT r.leaderboard_id, r.device, 'own_best', r.submission_id, _best.submission_id, r.run_id,
        _best.run_id
    FROM counted_runs r
    WHERE r.leaderboard_id = _best.leaderboard_id AND r.device = _best.device
        AND r.author_id = _best.author_id AND r.score_s < _best.score_s AND NOT r.again
        AND NOT had_own_duel(r.run_id, _best)
        AND NOT EXISTS (
            SELECT 1 FROM eligible_runs later
            WHERE later.leaderboard_id = r.leaderboard_id AND later.device = r.device
                AND later.author_id = r.author_id AND later.rejudge_id IS NOT NULL
                AND later.measured_at > r.measured_at
        )
    ORDER BY r.run_id
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM announce_turn(_best.device);
    END IF;
END;
$$;

-- Request duels between neighbours that may share a rank, because their intervals overlap and their
-- scores differ by no more than a tenth, among the first `_places` of a ranking.
CREATE FUNCTION request_neighbour_duels(_board bigint, _device text, _places integer)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO duels (
        leaderboard_id, device, reason, submission_id, opponent_id, run_id, opponent_run_id
    )
    SELECT _board, _device, 'neighbours', submission_id, ahead_submission_id, run_id, ahead_run_id
    FROM (
        SELECT run_id, submission_id, score_s, ci_low_s, lag(run_id) OVER ranking AS ahead_run_id,
            lag(submission_id) OVER ranking AS ahead_submission_id,
            lag(score_s) OVER ranking AS ahead_s, lag(ci_high_s) OVER ranking AS ahead_high_s
        FROM (
            SELECT * FROM standings WHERE leaderboard_id = _board AND device = _device
            ORDER BY score_s, achieved_at, author_id LIMIT _places
        ) first
        WINDOW ranking AS (ORDER BY score_s, achieved_at, author_id)
    ) places
    WHERE ci_low_s <= ahead_high_s AND score_s <= ahead_s * 1.1
    ORDER BY run_id
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM announce_turn(_device);
    END IF;
END;
$$;

-- At the transaction's end, when a ranking is as it will be: a rejudge changes many places, one
-- after another.
CREATE FUNCTION ranking_has_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF duel_places(NEW.leaderboard_id) IS NOT NULL THEN
        PERFORM request_neighbour_duels(
            NEW.leaderboard_id, NEW.device, duel_places(NEW.leaderboard_id)
        );
    END IF;
    RETURN NULL;
END;
$$;
CREATE CONSTRAINT TRIGGER rankings_dueled AFTER UPDATE OF version ON leaderboard_devices
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.version <> NEW.version) EXECUTE FUNCTION ranking_has_changed();

-- The ranking that a rejudge has changed: duels as far as it went, if that is further than usual.
CREATE FUNCTION request_rejudged_duels(_rejudge bigint) RETURNS void LANGUAGE sql AS $$
    SELECT request_neighbour_duels(j.leaderboard_id, j.device, greatest(
        duel_places(j.leaderboard_id),
        (SELECT count(*)::integer FROM runs WHERE rejudge_id = j.id)
    ))
    FROM rejudges j WHERE j.id = _rejudge AND duel_places(j.leaderboard_id) IS NOT NULL;
$$;

-- The duels of a device that have no run yet, by the author whose run each will be. They get one
-- before the next run is claimed, so who waits in the queue waits for them as well.
CREATE FUNCTION coming_duels(_device text) RETURNS TABLE (author_id bigint, duels bigint)
LANGUAGE sql STABLE AS $$
    SELECT s.author_id, count(*)
    FROM duels d JOIN submissions s ON s.id = greatest(d.submission_id, d.opponent_id)
    WHERE d.device = _device AND d.state = 'waiting'
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.duel_id = d.id)
    GROUP BY s.author_id
$$;

-- Give a waiting duel that has no run yet one: in the queue it is a ranked run of the author of the
-- newer submission. One for each call, so that a transaction locks one author's turn. NULL: none.
CREATE FUNCTION enqueue_duel(_device text) RETURNS bigint LANGUAGE sql AS $$
    INSERT INTO runs (duel_id, device, secret, priority, author_id)
    SELECT d.id, d.device, true, 1, s.author_id
    FROM duels d JOIN submissions s ON s.id = greatest(d.submission_id, d.opponent_id)
    WHERE d.device = _device AND d.state = 'waiting'
        AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.duel_id = d.id)
    ORDER BY d.id LIMIT 1
    FOR KEY SHARE OF d SKIP LOCKED  -- one that is just being deleted gets no run
    ON CONFLICT DO NOTHING
    RETURNING id;
$$;

-- Whether a duel can still decide something: the opponent stands, and the other may, or stands too.
CREATE FUNCTION duel_matters(_duel bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT duel_places(d.leaderboard_id) IS NOT NULL
        AND EXISTS (SELECT 1 FROM standings WHERE run_id = d.opponent_run_id)
        AND CASE d.reason
            WHEN 'neighbours' THEN EXISTS (SELECT 1 FROM standings WHERE run_id = d.run_id)
            ELSE EXISTS (SELECT 1 FROM eligible_runs WHERE run_id = d.run_id)
        END
    FROM duels d WHERE d.id = _duel;
$$;

-- Only a ratio that is further from 1 decides, to either side.
CREATE FUNCTION least_ratio() RETURNS double precision LANGUAGE sql IMMUTABLE AS $$ SELECT 1.005 $$;

-- Who was told apart from whom ahead of them by a duel: the slower run of each pair, and where in the
-- ranking the faster one stands. The ratio decides, and its interval doesn't contain 1. Who stands behind and wasn't accepted in
-- it counts as slower: a kernel can tell that it is in a duel, and would fail there to keep the rank
-- that its interval shares.
CREATE FUNCTION standings_told_apart(_board bigint, _device text)
RETURNS TABLE (run_id bigint, score_s double precision, achieved_at timestamptz, author_id bigint)
LANGUAGE sql STABLE AS $$
    SELECT slower.run_id, faster.score_s, faster.achieved_at, faster.author_id
    FROM (
        SELECT CASE WHEN d.refused OR d.ratio > 1 THEN d.run_id ELSE d.opponent_run_id END AS slower,
            CASE WHEN d.refused OR d.ratio > 1 THEN d.opponent_run_id ELSE d.run_id END AS faster
        FROM duels d
        WHERE d.leaderboard_id = _board AND d.device = _device AND d.reason = 'neighbours'
            AND (
                d.refused
                OR (d.ratio > least_ratio() AND d.ratio_low > 1)
                OR (1 / d.ratio > least_ratio() AND d.ratio_high < 1)
            )
    ) pair
    JOIN standings slower ON slower.run_id = pair.slower
    JOIN standings faster ON faster.run_id = pair.faster
    WHERE (faster.score_s, faster.achieved_at, faster.author_id)
        < (slower.score_s, slower.achieved_at, slower.author_id);
$$;

-- Whether a run that has shown this ratio to its author's best replaces it: it is faster by so
-- much that it decides, as neighbours have to be, and the ratio's interval, as wide as the author's tries make it, is
-- wholly below 1.
CREATE FUNCTION wins_duel(
    d duels, _ratio double precision, _high double precision
) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    author bigint := (SELECT author_id FROM submissions WHERE id = d.submission_id);
BEGIN
    RETURN d.reason = 'own_best' AND _ratio * least_ratio() < 1 AND coalesce((
        SELECT _ratio * (_high / _ratio) ^ strictness(r.tried) < 1 FROM counted_runs r
        WHERE r.leaderboard_id = d.leaderboard_id AND r.device = d.device
            AND r.author_id = author AND r.run_id = d.run_id
    ), false);
END;
$$;

-- Store what a duel that waited has shown, and apply what it decides.
CREATE FUNCTION duel_measured(
    _duel bigint, _ratio double precision, _low double precision, _high double precision
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE duels SET state = 'measured', ended_at = clock_timestamp(), ratio = _ratio,
        ratio_low = _low, ratio_high = _high, wins = wins_duel(duels, _ratio, _high)
    WHERE id = _duel AND state = 'waiting';
    PERFORM settle_duel(_duel);
END;
$$;

-- Apply what a duel that has ended decides. Locks the board's device, as `refresh_standing` does.
CREATE FUNCTION settle_duel(_duel bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d duels%ROWTYPE;
    behind standings%ROWTYPE;
BEGIN
    SELECT * INTO d FROM duels WHERE id = _duel;
    IF d.reason = 'own_best' THEN
        PERFORM refresh_standing(d.leaderboard_id, d.device, s.author_id)
        FROM submissions s WHERE s.id = d.submission_id;
        RETURN;
    END IF;
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = d.leaderboard_id AND device = d.device FOR NO KEY UPDATE;
    SELECT * INTO behind FROM standings WHERE run_id IN (d.run_id, d.opponent_run_id)
    ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1;
    IF FOUND THEN
        PERFORM mark_leaders(
            d.leaderboard_id, d.device, behind.score_s, behind.achieved_at, behind.author_id
        );
        UPDATE leaderboard_devices SET version = version + 1
        WHERE leaderboard_id = d.leaderboard_id AND device = d.device;
    END IF;
END;
$$;

-- The runs of submissions, and those of the duels that they are in.
CREATE FUNCTION runs_about(_submissions bigint[]) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT id FROM runs WHERE submission_id = ANY(_submissions)
    UNION ALL
    SELECT r.id
    FROM duels d JOIN runs r ON r.duel_id = d.id
    WHERE d.submission_id = ANY(_submissions) OR d.opponent_id = ANY(_submissions);
$$;
