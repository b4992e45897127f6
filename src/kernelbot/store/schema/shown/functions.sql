-- What is shown of submissions and their runs, with why a run is not in the ranking.

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

-- Why an eligible run isn't its author's standing, if no duel says so. Numbers of submissions aren't the
-- order in which they were measured, and what was measured before a rejudge doesn't compete with what the
-- rejudge measured: it may well have the lower score.
CREATE FUNCTION why_not_best(_run bigint, best standings) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN own.score_s < best.ci_low_s AND EXISTS (
            SELECT 1 FROM eligible_runs again
            WHERE again.leaderboard_id = best.leaderboard_id AND again.device = best.device
                AND again.author_id = best.author_id AND again.rejudge_id IS NOT NULL
                AND again.measured_at > coalesce(own_rejudge.created_at, own.finished_at)
        ) THEN 'before_rejudge'
        WHEN own.submission_id < best.submission_id
            AND coalesce(own_rejudge.created_at, own.finished_at)
                <= coalesce(best_rejudge.created_at, best_run.finished_at) THEN 'superseded'
        ELSE 'no_better'
    END
    FROM runs own
    LEFT JOIN rejudges own_rejudge ON own_rejudge.id = own.rejudge_id
    JOIN runs best_run ON best_run.id = best.run_id
    LEFT JOIN rejudges best_rejudge ON best_rejudge.id = best_run.rejudge_id
    WHERE own.id = _run
$$;

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
        WHEN best.submission_id IS NOT NULL THEN why_not_best(coalesce(newest.id, r.id), best)
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
    -- What counts instead: the first of those that the author has deleted, or that was wrong when it
    -- was measured again, else of those that are held or refused, else of the others.
    SELECT CASE WHEN asked.later OR (asked.is AND plain.reason IS NULL) THEN coalesce((
        SELECT min(w.submission_id) FROM withdrawn_sources w
        WHERE w.leaderboard_id = s.leaderboard_id AND w.author_id = s.author_id
            AND (w.source_sha256 = s.source_sha256 OR w.code_sha256 = s.code_sha256)
            AND w.judging_hash = measured.judging_hash AND w.device = r.device
            AND w.submission_id < s.id AND r.last_rejudge_id IS NULL
    ), (
        SELECT min(t.id) FROM submissions t
        WHERE t.leaderboard_id = s.leaderboard_id AND t.author_id = s.author_id
            AND (t.source_sha256 = s.source_sha256 OR t.code_sha256 = s.code_sha256)
            AND t.review <> 'clear' AND t.mode = 'leaderboard' AND t.id < s.id
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

-- Whether secret runs of a submission had, or now would have, the seed that those of others have.
CREATE FUNCTION seed_is_shared(_submission bigint, _fixed boolean) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT _fixed OR EXISTS (
        SELECT 1 FROM runs WHERE submission_id = _submission AND shared_seed
    );
$$;

-- The part of a stamp (below) that few submissions have: what compilers said, and rejudges. A function, so
-- that only for those anything of its plan is set up.
CREATE FUNCTION rare_stamp(_submission bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    RETURN hash_record_extended(ROW (
        (
            SELECT array_agg(f.id || ':' || coalesce(f.before_id, 0) ORDER BY f.id)
            FROM shown_preflights f WHERE f.submission_id = _submission
        ),
        ARRAY(
            SELECT j.xmin FROM runs r JOIN rejudges j ON j.id = r.rejudge_id
            WHERE r.submission_id = _submission
        )
    ), 0);
END;
$$;

-- A number for all rows that decide what an author is shown of a submission, but for its place in the
-- queue: while it is the same, so is what is shown, and an answer that was sent is sent again for one look
-- by the primary key. It is made of the transactions that have written the rows: so any change makes
-- another one, and none comes back, even if what had changed is undone. `decisions`: as above, for
-- why it isn't ranked. A board's devices have the version of each ranking, in which are its place and
-- the scores that it is compared with.
CREATE VIEW submission_stamps AS
SELECT s.id, s.author_id, r.waits, hash_array_extended(
        ARRAY[s.xmin, b.xmin, u.xmin] || r.written
        || CASE WHEN s.mode <> 'test' THEN ARRAY(
            SELECT d.xmin FROM decisions d
            WHERE d.author_id = s.author_id AND d.leaderboard_id = s.leaderboard_id
        ) || ARRAY(
            SELECT o.xmin FROM leaderboard_devices o WHERE o.leaderboard_id = s.leaderboard_id
        ) END, 0
    ) # CASE WHEN b.visibility = 'closed' AND is_member(b.id, s.author_id) THEN 1 ELSE 0 END
    # CASE WHEN r.rejudged OR EXISTS (SELECT 1 FROM preflights p WHERE p.submission_id = s.id)
        THEN rare_stamp(s.id) ELSE 0 END AS stamp
FROM submissions s
CROSS JOIN LATERAL (
    SELECT id, xmin, visibility FROM leaderboards WHERE id = s.leaderboard_id LIMIT 1
) b
CROSS JOIN LATERAL (SELECT xmin FROM users WHERE id = s.author_id LIMIT 1) u
CROSS JOIN LATERAL (
    SELECT array_agg(xmin) AS written, bool_or(rejudge_id IS NOT NULL) AS rejudged,
        bool_or(state = 'queued') AS waits
    FROM runs WHERE submission_id = s.id
) r;

-- That of one. A function, so that only where it is asked for anything of its plan is set up.
CREATE FUNCTION stamp_of(_submission bigint) RETURNS submission_stamps LANGUAGE plpgsql STABLE AS $$
DECLARE
    found submission_stamps;
BEGIN
    SELECT * INTO found FROM submission_stamps s WHERE s.id = _submission;
    RETURN found;
END;
$$;

-- The same for a page of an author's own list: all that `listed_submissions` reads for it. `_board`:
-- NULL: of all boards. NULL for an empty page.
CREATE FUNCTION own_page_stamp(
    _author bigint, _board text, _before bigint, _limit bigint
) RETURNS bigint LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
    ids bigint[];
    boards bigint[];
    written xid[];
BEGIN
    IF _board IS NULL THEN
        SELECT array_agg(p.id), array_agg(p.leaderboard_id), array_agg(p.xmin)
        INTO ids, boards, written
        FROM (
            SELECT s.id, s.leaderboard_id, s.xmin FROM submissions s
            WHERE s.author_id = _author AND s.id < coalesce(_before, 9223372036854775807)
            ORDER BY s.id DESC LIMIT _limit
        ) p;
    ELSE
        SELECT array_agg(p.id), array_agg(p.leaderboard_id), array_agg(p.xmin)
        INTO ids, boards, written
        FROM (
            SELECT s.id, s.leaderboard_id, s.xmin FROM submissions s
            WHERE s.leaderboard_id = (SELECT b.id FROM leaderboards b WHERE lower(b.name) = lower(_board))
                AND s.author_id = _author AND s.id < coalesce(_before, 9223372036854775807)
            ORDER BY s.id DESC LIMIT _limit
        ) p;
    END IF;
    IF ids IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN hash_array_extended(
        written
        || ARRAY(SELECT r.xmin FROM runs r WHERE r.submission_id = ANY(ids))
        || ARRAY(SELECT d.xmin FROM decisions d WHERE d.author_id = _author)
        || ARRAY(
            SELECT o.xmin FROM standings st
            JOIN leaderboard_devices o
                ON o.leaderboard_id = st.leaderboard_id AND o.device = st.device
            WHERE st.author_id = _author AND st.submission_id = ANY(ids)
        )
        || ARRAY(SELECT b.xmin FROM leaderboards b WHERE b.id = ANY(boards))
        || ARRAY(SELECT u.xmin FROM users u WHERE u.id = _author), 0
    );
END;
$$;

-- Submissions with a row for each of their runs, whose columns come last.
CREATE VIEW submission_snapshots AS
SELECT s.id, b.id AS board_id, b.name AS board, b.creator_id, u.name AS author, s.author_id,
    s.file_name, s.mode, s.created_at, s.review, s.review_reason, seed_is_shared(s.id, b.fixed_seed),
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
-- one submission than for another: so a connection plans them once. What has no secret run is in no
-- ranking, so that most of it is NULL: what clients ask for again and again has few joins.
CREATE FUNCTION submission_snapshot(_submission bigint) RETURNS SETOF submission_snapshots
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM runs r WHERE r.submission_id = _submission AND r.secret) THEN
        RETURN QUERY
        SELECT s.* FROM submission_snapshots s WHERE s.id = _submission ORDER BY s.device, s.secret;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT s.id, b.id, b.name, b.creator_id, u.name, s.author_id,
        s.file_name, s.mode, s.created_at, s.review, s.review_reason,
        seed_is_shared(s.id, b.fixed_seed), NULL::text,
        r.id, r.device, r.secret, r.state, r.verdict, r.score_s, r.attempts,
        r.created_at, r.started_at, r.finished_at, r.fault, r.message, NULL::bigint,
        NULL::text, NULL::bigint, NULL::double precision, NULL::double precision,
        NULL::double precision, r.unverified, r.repeats,
        NULL::double precision, NULL::double precision, NULL::double precision,
        NULL::double precision, NULL::double precision, NULL::bigint
    FROM runs r
    CROSS JOIN LATERAL (SELECT * FROM submissions WHERE id = r.submission_id LIMIT 1) s
    CROSS JOIN LATERAL (SELECT * FROM leaderboards WHERE id = s.leaderboard_id LIMIT 1) b
    CROSS JOIN LATERAL (SELECT * FROM users WHERE id = s.author_id LIMIT 1) u
    WHERE r.submission_id = _submission ORDER BY r.device;
END;
$$;
