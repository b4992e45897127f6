-- The ranking: authors' standings, and pages of them.

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

-- Count again for a board's device: authors with a standing, and authors with outdated scores only, of
-- whom it is noted that they are.
CREATE FUNCTION recount_authors(_board bigint, _device text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    only_outdated bigint[] := ARRAY(
        SELECT DISTINCT r.author_id FROM rankable_runs r
        JOIN leaderboards b ON b.id = r.leaderboard_id
        JOIN problem_versions current ON current.id = b.problem_version_id
            AND current.judging_hash <> r.judging_hash
        WHERE r.leaderboard_id = _board AND r.device = _device AND NOT EXISTS (
            SELECT 1 FROM standings s
            WHERE s.leaderboard_id = _board AND s.device = _device AND s.author_id = r.author_id
        )
    );
BEGIN
    UPDATE decisions d SET is_outdated = found.is_outdated
    FROM (
        SELECT e.author_id, o.author_id IS NOT NULL AS is_outdated
        FROM decisions e LEFT JOIN unnest(only_outdated) o (author_id) ON o.author_id = e.author_id
        WHERE e.leaderboard_id = _board AND e.device = _device
    ) found
    WHERE d.leaderboard_id = _board AND d.device = _device AND d.author_id = found.author_id
        AND d.is_outdated IS DISTINCT FROM found.is_outdated;
    UPDATE leaderboard_devices
    SET authors = (
            SELECT count(*) FROM standings WHERE leaderboard_id = _board AND device = _device
        ),
        outdated = cardinality(only_outdated)
    WHERE leaderboard_id = _board AND device = _device;
END;
$$;

-- The number of a board's advisory lock: no submission has it.
CREATE FUNCTION board_lock(_board bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT -_board
$$;

-- Lock a board's device, so that its ranking has one change at a time; whether the board offers it. If it
-- doesn't, a sync may be offering it just now, whose transaction doesn't see what this one has written: each
-- of the two waits for the other by the lock of `board_lock`, and whoever has waited looks again.
CREATE FUNCTION lock_ranking(_board bigint, _device text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM leaderboard_devices
    WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        PERFORM pg_advisory_xact_lock_shared(board_lock(_board));
        PERFORM 1 FROM leaderboard_devices
        WHERE leaderboard_id = _board AND device = _device FOR NO KEY UPDATE;
    END IF;
    RETURN FOUND;
END;
$$;

-- Update one author's standing from `eligible_runs`. Called in the transaction that wrote or revoked
-- a verdict. Locks the ranking; whoever calls it for several begins with those that are offered, in the
-- order of board and device, so that there is no deadlock. Unless it `_tells`, no change is news: of many
-- that belong together the others' scores are still the old ones.
CREATE FUNCTION refresh_standing(
    _board bigint, _device text, _author bigint, _tells boolean DEFAULT true
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    old standings%ROWTYPE;
    best standing_runs%ROWTYPE;
    comes integer;
    first bigint[];
    record standings%ROWTYPE;
    is_offered boolean;
    was_outdated boolean;
    is_outdated boolean;
BEGIN
    is_offered := lock_ranking(_board, _device);

    SELECT * INTO best FROM standing_runs
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;
    SELECT * INTO old FROM standings
    WHERE leaderboard_id = _board AND device = _device AND author_id = _author;

    IF is_offered THEN
        SELECT d.is_outdated INTO was_outdated FROM decisions d
        WHERE d.leaderboard_id = _board AND d.device = _device AND d.author_id = _author;
        is_outdated := best.run_id IS NULL AND has_outdated(_board, _device, _author);
        -- Of whom it isn't known it is assumed that nothing has changed but their standing.
        was_outdated := coalesce(was_outdated, CASE
            WHEN old.run_id IS NOT NULL THEN false
            WHEN best.run_id IS NULL THEN is_outdated
            ELSE has_outdated(_board, _device, _author)
        END);
        INSERT INTO decisions (author_id, leaderboard_id, device, decided_by, is_outdated)
        VALUES (_author, _board, _device, pg_current_xact_id()::text::bigint, is_outdated)
        ON CONFLICT (author_id, leaderboard_id, device) DO UPDATE
            SET decided_by = excluded.decided_by, is_outdated = excluded.is_outdated;
        UPDATE leaderboard_devices
        SET outdated = greatest(outdated + is_outdated::int - was_outdated::int, 0)
        WHERE leaderboard_id = _board AND device = _device AND is_outdated <> was_outdated;
    END IF;

    PERFORM request_own_duels(best);
    IF old.run_id IS NOT DISTINCT FROM best.run_id AND old.score_s IS NOT DISTINCT FROM best.score_s THEN
        -- Another of their scores may have come or gone, of which records and trends consist. Who
        -- stands nowhere has none.
        UPDATE leaderboard_devices SET version = version + 1
        WHERE leaderboard_id = _board AND device = _device AND best.run_id IS NOT NULL;
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
    END IF;
    IF best.run_id IS NOT NULL AND _tells THEN
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
        UPDATE leaderboard_devices SET authors = authors + comes
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

-- Compute one board's standings again from `eligible_runs`: its problem or devices have changed. Waits
-- for verdicts on devices that were offered only now; whoever calls it for several boards has locked the
-- devices of all.
CREATE FUNCTION rebuild_board_standings(_board bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    place record;
BEGIN
    PERFORM 1 FROM leaderboard_devices WHERE leaderboard_id = _board
    ORDER BY device FOR NO KEY UPDATE;
    PERFORM pg_advisory_xact_lock(board_lock(_board));
    -- Also for authors who have none on a device that is offered only now.
    INSERT INTO decisions
    SELECT DISTINCT s.author_id, d.leaderboard_id, d.device, pg_current_xact_id()::text::bigint
    FROM leaderboard_devices d
    JOIN submissions s ON s.leaderboard_id = d.leaderboard_id AND s.mode = 'leaderboard'
    JOIN runs r ON r.submission_id = s.id AND r.device = d.device AND r.secret
    WHERE d.leaderboard_id = _board
    ON CONFLICT (author_id, leaderboard_id, device) DO UPDATE SET decided_by = excluded.decided_by;
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

-- A number for what the pages of a public board's rankings show: the same as long as they show the same,
-- made as `submission_stamps` are.
CREATE VIEW ranking_stamps AS
SELECT b.name, hash_array_extended(
        ARRAY[b.xmin] || ARRAY(
            SELECT d.xmin FROM leaderboard_devices d WHERE d.leaderboard_id = b.id
        ), 0
    ) AS stamp
FROM leaderboards b WHERE b.visibility = 'public';

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
