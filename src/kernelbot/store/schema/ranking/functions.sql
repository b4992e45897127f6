-- The ranking: which runs count, which of them is an author's standing, and pages of standings.

-- Runs that may be ranked, of any version of the problem. A finished rejudge's measurement replaces
-- earlier ones, unless it failed through our fault. The harness must be that of the problem: on a
-- board that is judged natively no script's result is ranked. The scatter between judgings is in
-- the interval.
CREATE VIEW rankable_runs AS
SELECT
    s.leaderboard_id,
    r.device,
    s.author_id,
    r.id AS run_id,
    s.id AS submission_id,
    r.score_s,
    widened_low(r.score_s, coalesce(r.ci_low_s, r.score_s), r.scatter) AS ci_low_s,
    widened_high(r.score_s, coalesce(r.ci_high_s, r.score_s), r.scatter) AS ci_high_s,
    s.created_at AS achieved_at,
    s.source_sha256,
    r.rejudge_id,
    coalesce(j.created_at, s.created_at) AS measured_at,
    measured.judging_hash,
    s.code_sha256
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
    AND r.unverified = (measured.harness = 'script')
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

-- The 95 % interval of each ranked run's score as `rankable_runs` has it, and what it consists of: the
-- run's own, which is of one judging, and the scatter between judgings. No row: there is no interval.
CREATE VIEW score_intervals AS
SELECT id AS run_id, widened_low(score_s, ci_low_s, scatter) AS ci_low_s,
    widened_high(score_s, ci_high_s, scatter) AS ci_high_s, ci_low_s AS own_low_s,
    ci_high_s AS own_high_s, scatter, scatter_pairs
FROM runs WHERE secret AND score_s IS NOT NULL AND ci_low_s IS NOT NULL AND ci_high_s IS NOT NULL;

-- The runs that count. Nothing else in the system decides this. Source and code are two conditions:
-- with an OR every run of an author would be compared with all that they have withdrawn.
CREATE VIEW eligible_runs AS
SELECT r.leaderboard_id, r.device, r.author_id, r.run_id, r.submission_id, r.score_s,
    r.ci_low_s, r.ci_high_s, r.achieved_at, r.source_sha256, r.rejudge_id, r.measured_at,
    r.code_sha256
FROM rankable_runs r
JOIN leaderboards b ON b.id = r.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
    AND current.judging_hash = r.judging_hash
WHERE NOT EXISTS (
    SELECT 1 FROM withdrawn_sources w
    WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
        AND w.source_sha256 = r.source_sha256 AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
) AND NOT EXISTS (
    SELECT 1 FROM withdrawn_sources w
    WHERE w.leaderboard_id = r.leaderboard_id AND w.author_id = r.author_id
        AND w.code_sha256 = r.code_sha256 AND w.judging_hash = r.judging_hash
        AND w.device = r.device AND w.submission_id < r.submission_id
        AND r.rejudge_id IS NULL
);

-- The better of two runs. A rejudge's measurement replaces the earlier one; the same source `again`
-- doesn't count; another run replaces the best one if its interval, as wide as the author's tries make
-- it (`strictness`), is wholly below. `beaten` isn't
-- NULL: what has happened is that the run won a duel, which replaces that run and no other.
CREATE FUNCTION better_run(
    best eligible_runs, run eligible_runs, again boolean, tried bigint, beaten bigint
) RETURNS eligible_runs LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF (CASE
        WHEN beaten IS NOT NULL THEN best.run_id = beaten AND NOT again
        ELSE best.run_id IS NULL
            OR (run.rejudge_id IS NOT NULL AND run.rejudge_id IS DISTINCT FROM best.rejudge_id)
            OR (run.score_s * (run.ci_high_s / run.score_s) ^ strictness(tried) < best.ci_low_s
                AND NOT again)
    END) THEN
        RETURN run;
    END IF;
    RETURN best;
END;
$$;

CREATE AGGREGATE best_run_of(
    run eligible_runs, again boolean, tried bigint, beaten bigint
) (
    SFUNC = better_run, STYPE = eligible_runs
);

-- The runs that count, whether the same code was measured before, and the how manieth try of its
-- author each is, with those that were withdrawn.
CREATE VIEW counted_runs AS
SELECT run.leaderboard_id, run.device, run.author_id, run.measured_at, run.achieved_at, run.run_id,
    run.submission_id, run.score_s, run,
    row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id, run.source_sha256
        ORDER BY run.measured_at, run.achieved_at, run.run_id
    ) > 1 OR row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id,
            coalesce(run.code_sha256, run.source_sha256)
        ORDER BY run.measured_at, run.achieved_at, run.run_id
    ) > 1 AS again,
    row_number() OVER (
        PARTITION BY run.leaderboard_id, run.device, run.author_id
        ORDER BY run.measured_at, run.achieved_at, run.run_id
    ) + (
        SELECT count(*) FROM withdrawn_sources w
        WHERE w.leaderboard_id = run.leaderboard_id AND w.author_id = run.author_id
            AND w.device = run.device
    ) AS tried
FROM eligible_runs run;

-- Each author's best run, found in the order of what happened: a run was measured, or it won a duel.
-- A ranking is rebuilt from it in one pass over the board's runs, and one author's standing is a row
-- of it. The columns it is grouped by come first, so that a query for one author or one board reads
-- no others.
CREATE VIEW standing_runs AS
SELECT leaderboard_id, device, author_id, (best).run_id, (best).submission_id, (best).score_s,
    (best).ci_low_s, (best).ci_high_s, (best).achieved_at
FROM (
    SELECT leaderboard_id, device, author_id, best_run_of(
        run, again, tried, beaten ORDER BY happened_at, achieved_at, run_id, beaten NULLS FIRST
    ) AS best
    FROM counted_runs
    CROSS JOIN LATERAL (
        SELECT measured_at AS happened_at, NULL::bigint AS beaten
        UNION ALL
        SELECT ended_at, opponent_run_id FROM duels
        WHERE duels.run_id = counted_runs.run_id AND wins
    ) happened
    GROUP BY leaderboard_id, device, author_id
) authors;

-- Compute `leads` again from a place in the order on, until a leader past it was already one:
-- from there on nothing can change. Whose interval overlaps the leader's shares its rank, unless its
-- score is more than a tenth above the leader's, or a duel has told it apart from one with that rank.
CREATE FUNCTION mark_leaders(
    _board bigint, _device text, _score_s double precision, _at timestamptz, _author bigint
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    leader record;
    place record;
    should_lead boolean;
BEGIN
    SELECT score_s, achieved_at, author_id, ci_high_s INTO leader FROM standings
    WHERE leaderboard_id = _board AND device = _device AND leads
        AND (score_s, achieved_at, author_id) < (_score_s, _at, _author)
    ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1;

    FOR place IN
        SELECT s.score_s, s.achieved_at, s.author_id, s.ci_low_s, s.ci_high_s, s.leads,
            (s.score_s, s.achieved_at, s.author_id) > (_score_s, _at, _author) AS past,
            faster.score_s AS faster_s, faster.achieved_at AS faster_at,
            faster.author_id AS faster_author
        FROM standings s
        LEFT JOIN (
            SELECT DISTINCT ON (run_id) * FROM standings_told_apart(_board, _device)
            ORDER BY run_id, score_s DESC, achieved_at DESC, author_id DESC
        ) faster ON faster.run_id = s.run_id
        WHERE s.leaderboard_id = _board AND s.device = _device
            AND (s.score_s, s.achieved_at, s.author_id) >= (_score_s, _at, _author)
        ORDER BY s.score_s, s.achieved_at, s.author_id
    LOOP
        should_lead := leader IS NULL OR place.ci_low_s > leader.ci_high_s
            OR place.score_s > leader.score_s * 1.1
            OR coalesce(
                (place.faster_s, place.faster_at, place.faster_author)
                    >= (leader.score_s, leader.achieved_at, leader.author_id),
                false
            );
        EXIT WHEN should_lead AND place.leads AND place.past;
        IF should_lead <> place.leads THEN
            UPDATE standings SET leads = should_lead
            WHERE leaderboard_id = _board AND device = _device AND author_id = place.author_id;
        END IF;
        IF should_lead THEN
            leader := place;
        END IF;
    END LOOP;
END;
$$;

-- Whether a board has scores of an author on a device that are of an earlier version of the problem.
CREATE FUNCTION has_outdated(_board bigint, _device text, _author bigint)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM rankable_runs r
        JOIN leaderboards b ON b.id = r.leaderboard_id
        JOIN problem_versions current ON current.id = b.problem_version_id
            AND current.judging_hash <> r.judging_hash
        WHERE r.leaderboard_id = _board AND r.device = _device AND r.author_id = _author
    );
$$;

-- Count again for a board's device: authors with a standing, and authors with outdated scores only.
CREATE FUNCTION recount_authors(_board bigint, _device text) RETURNS void LANGUAGE sql AS $$
    UPDATE leaderboard_devices
    SET authors = (
            SELECT count(*) FROM standings WHERE leaderboard_id = _board AND device = _device
        ),
        outdated = (
            SELECT count(DISTINCT r.author_id) FROM rankable_runs r
            JOIN leaderboards b ON b.id = r.leaderboard_id
            JOIN problem_versions current ON current.id = b.problem_version_id
                AND current.judging_hash <> r.judging_hash
            WHERE r.leaderboard_id = _board AND r.device = _device AND NOT EXISTS (
                SELECT 1 FROM standings s
                WHERE s.leaderboard_id = _board AND s.device = _device
                    AND s.author_id = r.author_id
            )
        )
    WHERE leaderboard_id = _board AND device = _device;
$$;

-- Update one author's standing from `eligible_runs`. Called in the transaction that wrote or revoked
-- a verdict. Locks the board's device, so that its ranking has one change at a time.
CREATE FUNCTION refresh_standing(_board bigint, _device text, _author bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old standings%ROWTYPE;
    best standing_runs%ROWTYPE;
    comes integer;
    first bigint[];
    record standings%ROWTYPE;
BEGIN
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;
    IF FOUND THEN
        INSERT INTO decisions
        VALUES (_author, _board, _device, pg_current_xact_id()::text::bigint)
        ON CONFLICT (author_id, leaderboard_id, device)
            DO UPDATE SET decided_by = excluded.decided_by;
    END IF;

    SELECT * INTO best FROM standing_runs
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
    SELECT * INTO old FROM standings
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;

    PERFORM request_own_duels(best);
    IF old.run_id IS NOT DISTINCT FROM best.run_id AND old.score_s IS NOT DISTINCT FROM best.score_s THEN
        RETURN;
    END IF;
    first := podium(_board, _device);
    SELECT * INTO record FROM standings WHERE leaderboard_id = _board AND device = _device
    ORDER BY score_s, achieved_at, author_id LIMIT 1;
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
        PERFORM announce_podium(_board, _device, _author, best.run_id, first);
        PERFORM announce_passed(
            _board, _device, _author, best.run_id, best.score_s, old.score_s
        );
        PERFORM tell_record(
            _board, _device, _author, best.run_id, best.submission_id, best.score_s,
            record.score_s, record.author_id
        );
    END IF;
    IF (best.run_id IS NULL) <> (old.run_id IS NULL) THEN
        comes := CASE WHEN best.run_id IS NULL THEN -1 ELSE 1 END;
        UPDATE leaderboard_devices
        SET authors = authors + comes,
            outdated = greatest(
                outdated - comes * has_outdated(_board, _device, _author)::int, 0
            )
        WHERE leaderboard_id = _board AND device = _device;
    END IF;
END;
$$;

-- Compute all standings again from `eligible_runs`.
CREATE FUNCTION rebuild_standings() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    board record;
BEGIN
    PERFORM 1 FROM leaderboard_devices ORDER BY leaderboard_id, device FOR NO KEY UPDATE;
    UPDATE decisions SET decided_by = pg_current_xact_id()::text::bigint;
    DELETE FROM standings;
    INSERT INTO standings
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs;
    FOR board IN SELECT leaderboard_id, device FROM leaderboard_devices LOOP
        PERFORM mark_leaders(board.leaderboard_id, board.device, '-Infinity', '-infinity', 0);
        PERFORM recount_authors(board.leaderboard_id, board.device);
    END LOOP;
END;
$$;

-- Compute one board's standings again from `eligible_runs`: its problem or devices have changed.
CREATE FUNCTION rebuild_board_standings(_board bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    UPDATE decisions SET decided_by = pg_current_xact_id()::text::bigint
    WHERE leaderboard_id = _board;
    DELETE FROM standings WHERE leaderboard_id = _board;
    INSERT INTO standings
    SELECT leaderboard_id, device, author_id, run_id, submission_id, score_s,
        ci_low_s, ci_high_s, achieved_at, false
    FROM standing_runs
    WHERE leaderboard_id = _board;
    FOR place IN SELECT device FROM leaderboard_devices WHERE leaderboard_id = _board LOOP
        PERFORM mark_leaders(_board, place.device, '-Infinity', '-infinity', 0);
        PERFORM recount_authors(_board, place.device);
    END LOOP;
END;
$$;

-- An author's rank, NULL without a standing: an index-only count of the rows before the leader.
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

-- Whether others have an author's rank, as in `standings_page`: they don't lead, or the next one
-- doesn't. NULL without a standing.
CREATE FUNCTION standing_is_shared(_board bigint, _device text, _author bigint)
RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT own.leads OR NOT coalesce((
        SELECT leads FROM standings
        WHERE leaderboard_id = _board AND device = _device
            AND (score_s, achieved_at, author_id) > (own.score_s, own.achieved_at, own.author_id)
        ORDER BY score_s, achieved_at, author_id LIMIT 1
    ), true)
    FROM standings own
    WHERE own.leaderboard_id = _board AND own.device = _device AND own.author_id = _author;
$$;

-- A page of a ranking, counted from a row whose position is known: `_skip` rows past the one of
-- this score, time and author, before which there are `_before`. With the ranking's version, so that
-- a caller who counted from a row of another version finds out. One row more is read than is shown:
-- whether it leads says whether the last row shares its rank.
-- A function, because its plan is made once per connection: for an unknown limit the planner
-- assumes a tenth of the ranking, and would plan each page anew instead. The names are looked up one
-- by one for the same reason: it would read all users for its tenth.
CREATE FUNCTION standings_page(
    _board bigint, _device text, _limit bigint,
    _before bigint, _score_s double precision, _at timestamptz, _author bigint, _skip bigint
) RETURNS TABLE (
    version bigint, rank bigint, author_id bigint, author text, score_s double precision,
    ci_low_s double precision, ci_high_s double precision, submission_id bigint, file_name text,
    achieved_at timestamptz, unverified boolean, shared boolean, page_id bigint
) LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    WITH page AS (
        SELECT author_id, run_id, submission_id, score_s, ci_low_s, ci_high_s, achieved_at, leads,
            _before + _skip + row_number() OVER (ORDER BY score_s, achieved_at, author_id) AS position,
            NOT leads OR NOT coalesce(
                lead(leads) OVER (ORDER BY score_s, achieved_at, author_id), true
            ) AS shared
        FROM (
            SELECT * FROM standings
            WHERE leaderboard_id = _board AND device = _device
                AND (score_s, achieved_at, author_id) >= (_score_s, _at, _author)
            ORDER BY score_s, achieved_at, author_id
            LIMIT _limit + 1 OFFSET _skip
        ) rows
    ), head AS (
        -- The first row's rank is its leader's position: its own, less the rows in between.
        SELECT first.position - (
            SELECT count(*) FROM standings between_them
            WHERE between_them.leaderboard_id = _board AND between_them.device = _device
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    >= (leader.score_s, leader.achieved_at, leader.author_id)
                AND (between_them.score_s, between_them.achieved_at, between_them.author_id)
                    < (first.score_s, first.achieved_at, first.author_id)
        ) AS rank
        FROM (SELECT * FROM page ORDER BY position LIMIT 1) first
        CROSS JOIN LATERAL (
            SELECT score_s, achieved_at, author_id FROM standings
            WHERE leaderboard_id = _board AND device = _device AND leads
                AND (score_s, achieved_at, author_id)
                    <= (first.score_s, first.achieved_at, first.author_id)
            ORDER BY score_s DESC, achieved_at DESC, author_id DESC LIMIT 1
        ) leader
    )
    SELECT d.version,
        coalesce(
            max(CASE WHEN page.leads THEN page.position END) OVER (ORDER BY page.position),
            head.rank
        ),
        page.author_id, u.name, page.score_s,
        CASE WHEN r.ci_low_s IS NOT NULL THEN page.ci_low_s END,
        CASE WHEN r.ci_low_s IS NOT NULL THEN page.ci_high_s END, page.submission_id,
        s.file_name, page.achieved_at, r.unverified, page.shared,
        CASE WHEN NOT u.page_is_private THEN page.author_id END
    FROM page
    CROSS JOIN (SELECT rank FROM head LIMIT 1) head
    CROSS JOIN LATERAL (
        SELECT name, page_is_private FROM users WHERE id = page.author_id LIMIT 1
    ) u
    CROSS JOIN LATERAL (SELECT file_name FROM submissions WHERE id = page.submission_id LIMIT 1) s
    CROSS JOIN LATERAL (
        SELECT ci_low_s, unverified FROM runs WHERE id = page.run_id LIMIT 1
    ) r
    JOIN leaderboard_devices d ON d.leaderboard_id = _board AND d.device = _device
    WHERE page.position <= _before + _skip + _limit
    ORDER BY page.position;
END;
$$;

-- Runs with facts about the other runs of their submission, found in one scan of these. `passed`:
-- whether the public run on the device was accepted. `last_rejudge_id`: the last rejudge whose
-- measurement counts, because it didn't fail through our fault; NULL: there is none.
CREATE VIEW runs_among_others AS
SELECT r.id, r.submission_id, r.device, r.secret, r.state, r.verdict, r.score_s, r.attempts,
    r.created_at, r.started_at, r.finished_at, r.fault, r.message, r.unverified, r.rejudge_id,
    r.repeats, bool_or(r.state = 'cancelled' AND r.rejudge_id IS NULL) OVER (
        PARTITION BY r.submission_id
    ) AS cancelled,
    bool_or(NOT r.secret AND r.state = 'finished' AND r.verdict = 'accepted') OVER (
        PARTITION BY r.submission_id, r.device
    ) AS passed,
    max(CASE WHEN r.state = 'finished' AND (r.fault IS NULL OR r.fault = 'author')
        AND j.finished_at IS NOT NULL THEN r.rejudge_id END) OVER (
        PARTITION BY r.submission_id, r.device
    ) AS last_rejudge_id
FROM runs r LEFT JOIN rejudges j ON j.id = r.rejudge_id;

-- A submission's own runs as they are shown: with the score of the last rejudge that measured it
-- again (`scored_run_id`: the run whose score that is), the version of the ranking in which it is its
-- author's best, and why it isn't ranked.
--
-- `not_ranked`: for an accepted ranked run that isn't in the ranking, the first reason that applies;
-- before it is judged only that its code is known, which is true already.
-- The words are those of `ranking/model.py`; a test compares them, and checks that every run has a
-- reason or a standing. `not_ranked_for`: the submission that the reason refers to. Only secret runs
-- can be in a ranking; for others the CASE uses no index. What needs a search comes last, and behind
-- OFFSET 0, because otherwise what is used twice would be computed twice.
CREATE VIEW shown_runs AS
SELECT r.id, r.submission_id, r.device, r.secret, r.state, r.verdict,
    coalesce(again.score_s, r.score_s) AS score_s, coalesce(again.id, r.id) AS scored_run_id,
    r.attempts, r.created_at, r.started_at, r.finished_at, r.fault, r.message,
    CASE WHEN best.submission_id = s.id THEN offered.version END AS best_of_version,
    CASE
        WHEN NOT asked.is THEN CASE WHEN same_code.other_id IS NOT NULL THEN 'same_code' END
        WHEN plain.reason IS NOT NULL THEN plain.reason
        WHEN same_code.other_id IS NOT NULL THEN 'same_code'
        WHEN duel.state = 'waiting' THEN 'duel_waits'
        WHEN duel.state = 'failed' THEN 'duel_failed'
        WHEN duel.ratio_low > 1 THEN 'duel_lost'
        WHEN NOT duel.wins THEN 'duel_undecided'
        WHEN best.submission_id < s.id THEN 'no_better'
        WHEN best.submission_id > s.id THEN 'superseded'
    END AS not_ranked,
    CASE WHEN NOT asked.is THEN same_code.other_id
        WHEN plain.reason IS NULL
        THEN coalesce(same_code.other_id, duel.opponent_id, best.submission_id)
    END AS not_ranked_for,
    r.unverified, r.repeats, duel.ratio, duel.ratio_low, duel.ratio_high
FROM runs_among_others r
JOIN submissions s ON s.id = r.submission_id
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN problem_versions current ON current.id = b.problem_version_id
LEFT JOIN leaderboard_devices offered
    ON offered.leaderboard_id = s.leaderboard_id AND offered.device = r.device
LEFT JOIN standings best ON best.leaderboard_id = s.leaderboard_id
    AND best.device = r.device AND best.author_id = CASE WHEN r.secret THEN s.author_id END
LEFT JOIN rejudges j ON j.id = r.last_rejudge_id
LEFT JOIN runs newest ON newest.rejudge_id = r.last_rejudge_id
    AND newest.submission_id = r.submission_id AND newest.device = r.device AND newest.secret
LEFT JOIN LATERAL (
    SELECT m.id, m.score_s FROM runs m
    JOIN rejudges k ON k.id = m.rejudge_id AND k.finished_at IS NOT NULL
    WHERE r.secret AND r.last_rejudge_id IS NOT NULL AND m.submission_id = r.submission_id
        AND m.device = r.device AND m.score_s IS NOT NULL
    ORDER BY m.rejudge_id DESC LIMIT 1
) again ON true
JOIN problem_versions measured ON measured.id = coalesce(j.problem_version_id, s.problem_version_id)
CROSS JOIN LATERAL (
    SELECT r.secret AND r.verdict = 'accepted' AND r.score_s IS NOT NULL AND r.passed
        AND s.mode = 'leaderboard' AND best.submission_id IS DISTINCT FROM s.id AS is,
        r.secret AND s.mode = 'leaderboard' AND r.state IN ('queued', 'dispatched', 'running')
        AS later
) asked
CROSS JOIN LATERAL (
    SELECT CASE
        WHEN NOT asked.is THEN NULL
        WHEN s.review <> 'clear' THEN s.review::text
        WHEN (SELECT banned_at FROM users WHERE id = s.author_id) IS NOT NULL THEN 'banned'
        WHEN r.cancelled THEN 'cancelled'
        WHEN offered.device IS NULL THEN 'device_removed'
        WHEN newest.verdict <> 'accepted' THEN 'measured_again'
        WHEN coalesce(newest.unverified, r.unverified) <> (measured.harness = 'script') THEN 'script'
        WHEN measured.judging_hash <> current.judging_hash THEN 'problem_changed'
    END AS reason
    OFFSET 0
) plain
CROSS JOIN LATERAL (
    -- What counts instead: the first of those that the author has deleted, else of the others.
    SELECT CASE WHEN asked.later OR (asked.is AND plain.reason IS NULL) THEN coalesce((
        SELECT min(w.submission_id) FROM withdrawn_sources w
        WHERE w.leaderboard_id = s.leaderboard_id AND w.author_id = s.author_id
            AND (w.source_sha256 = s.source_sha256 OR w.code_sha256 = s.code_sha256)
            AND w.judging_hash = measured.judging_hash AND w.device = r.device
            AND w.submission_id < s.id AND r.last_rejudge_id IS NULL
    ), (
        SELECT t.id FROM submissions t
        JOIN problem_versions v
            ON v.id = t.problem_version_id AND v.judging_hash = measured.judging_hash
        WHERE t.leaderboard_id = s.leaderboard_id AND t.author_id = s.author_id
            AND t.code_sha256 = s.code_sha256 AND t.id < s.id AND t.review = 'clear'
            AND EXISTS (
                SELECT 1 FROM runs first
                WHERE first.submission_id = t.id AND first.device = r.device AND first.secret
                    AND first.verdict = 'accepted'
            )
        ORDER BY t.id LIMIT 1
    )) END AS other_id
    OFFSET 0
) same_code
LEFT JOIN LATERAL (
    -- That with the author's best, else the last that it didn't win, if its score is below.
    SELECT d.state, d.opponent_id, d.ratio, d.ratio_low, d.ratio_high, d.wins FROM duels d
    WHERE asked.is AND plain.reason IS NULL AND same_code.other_id IS NULL
        AND d.run_id = coalesce(newest.id, r.id) AND d.reason = 'own_best'
        AND (d.opponent_run_id = best.run_id
            OR (d.state = 'measured' AND NOT d.wins AND coalesce(newest.score_s, r.score_s) < best.score_s))
    ORDER BY d.opponent_run_id = best.run_id DESC, d.id DESC LIMIT 1
) duel ON true
WHERE r.rejudge_id IS NULL;

-- Why an accepted ranked run isn't in the ranking; a row for each such run, none for others.
CREATE VIEW unranked_runs AS
SELECT id AS run_id, not_ranked AS reason, not_ranked_for AS other_id
FROM shown_runs WHERE not_ranked IS NOT NULL AND state = 'finished';

-- A submission as lists find it: with a hash of everything that lists show of it, so that a cache of
-- rendered entries reads nothing more, and the version of each ranking in which it is its author's
-- best. Why a run isn't ranked is slow to find, so `decisions` are in the hash instead of the reasons.
CREATE VIEW listed_submissions AS
SELECT s.id, s.leaderboard_id AS board_id, s.author_id, best.devices AS best_devices,
    best.versions AS best_versions,
    hash_record_extended(ROW (
        s.review, s.review_reason, s.file_name, b.name, b.problem_version_id, u.name, u.banned_at,
        own.hash, decided.hash
    ), 0) AS hash
FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN users u ON u.id = s.author_id
CROSS JOIN LATERAL (
    SELECT bit_xor(hash_record_extended(ROW (
        id, state, verdict, score_s, attempts, started_at, finished_at, fault, message, unverified
    ), 0)) AS hash
    FROM runs WHERE submission_id = s.id
) own
CROSS JOIN LATERAL (
    SELECT bit_xor(hash_record_extended(ROW (leaderboard_id, device, decided_by), 0)) AS hash
    FROM decisions WHERE author_id = s.author_id AND leaderboard_id = s.leaderboard_id
) decided
CROSS JOIN LATERAL (
    SELECT array_agg(st.device) AS devices, array_agg(d.version) AS versions
    FROM standings st
    JOIN leaderboard_devices d
        ON d.leaderboard_id = st.leaderboard_id AND d.device = st.device
    WHERE st.submission_id = s.id
) best;

-- Submissions with a row for each of their runs, whose columns come last.
CREATE VIEW submission_snapshots AS
SELECT s.id, b.id AS board_id, b.name AS board, b.creator_id, u.name AS author, s.author_id,
    s.file_name, s.mode, s.created_at, s.review, s.review_reason, b.fixed_seed AS seed_is_shared,
    NULL::text AS code,
    r.id AS run_id, r.device, r.secret, r.state, r.verdict, r.score_s, r.attempts,
    r.created_at AS run_created_at, r.started_at, r.finished_at, r.fault, r.message, r.best_of_version,
    r.not_ranked, r.not_ranked_for, r.ratio, r.ratio_low, r.ratio_high, r.unverified, r.repeats,
    i.ci_low_s, i.ci_high_s, i.own_low_s, i.own_high_s, i.scatter, i.scatter_pairs
FROM submissions s
JOIN leaderboards b ON b.id = s.leaderboard_id
JOIN users u ON u.id = s.author_id
JOIN shown_runs r ON r.submission_id = s.id
LEFT JOIN score_intervals i ON i.run_id = r.scored_run_id;

-- The rows of one. To plan them takes ten times as long as to read them, and no plan is better for
-- one submission than for another: so a connection plans them once.
CREATE FUNCTION submission_snapshot(_submission bigint) RETURNS SETOF submission_snapshots
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN QUERY
    SELECT s.* FROM submission_snapshots s WHERE s.id = _submission ORDER BY s.device, s.secret;
END;
$$;

CREATE FUNCTION count_standings_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE leaderboard_devices d SET version = version + 1
    FROM (SELECT DISTINCT leaderboard_id, device FROM changed) c
    WHERE d.leaderboard_id = c.leaderboard_id AND d.device = c.device;
    RETURN NULL;
END;
$$;
CREATE TRIGGER standings_come AFTER INSERT ON standings
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_standings_change();
CREATE TRIGGER standings_go AFTER DELETE ON standings
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION count_standings_change();

-- A ranking also shows names, and leads to the pages of authors that aren't private.
CREATE FUNCTION count_author_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE leaderboard_devices d SET version = version + 1
    FROM standings s
    WHERE s.author_id = NEW.id AND d.leaderboard_id = s.leaderboard_id AND d.device = s.device;
    RETURN NULL;
END;
$$;
CREATE TRIGGER users_shown AFTER UPDATE OF name, page_is_private ON users
    FOR EACH ROW WHEN (OLD.name <> NEW.name OR OLD.page_is_private <> NEW.page_is_private)
    EXECUTE FUNCTION count_author_change();
