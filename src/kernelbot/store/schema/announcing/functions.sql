-- What is told at Discord, written in the transaction that causes it.

-- Tell it in every guild that has been prepared, and wake the bot.
CREATE FUNCTION announce(_kind text, _board bigint, _run bigint, _data jsonb)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    announced bigint;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM guilds) THEN
        RETURN;
    END IF;
    INSERT INTO announcements (kind, leaderboard_id, run_id, data)
    VALUES (_kind, _board, _run, _data)
    ON CONFLICT DO NOTHING
    RETURNING id INTO announced;
    IF announced IS NOT NULL THEN
        INSERT INTO deliveries (announcement_id, guild_id) SELECT announced, id FROM guilds;
        PERFORM pg_notify('kernelbot_events', 'announcements');
    END IF;
END;
$$;

-- The authors of the first three rows of a ranking, in order.
CREATE FUNCTION podium(_board bigint, _device text) RETURNS bigint[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(author_id ORDER BY score_s, achieved_at, author_id), '{}')
    FROM (
        SELECT author_id, score_s, achieved_at FROM standings
        WHERE leaderboard_id = _board AND device = _device
        ORDER BY score_s, achieved_at, author_id LIMIT 3
    ) first;
$$;

-- Tell that an author's new run took the first place or entered the first three, and who fell out for
-- it; `_before`: the first three before. Boards that not everyone sees, or that have ended, aren't told of.
CREATE FUNCTION announce_podium(
    _board bigint, _device text, _author bigint, _run bigint, _before bigint[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    now_first bigint[] := podium(_board, _device);
    place integer := array_position(now_first, _author);
    told jsonb;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM guilds) THEN
        RETURN;
    END IF;
    IF place IS NULL OR place >= coalesce(array_position(_before, _author), 4)
        OR (place > 1 AND _author = ANY(_before))
    THEN
        RETURN;
    END IF;
    SELECT jsonb_build_object(
        'device', _device,
        'author', row.author,
        'rank', row.rank,
        'shared', row.rank < place,
        'score_s', row.score_s,
        'fell', (
            SELECT u.name FROM users u WHERE u.id = ANY(_before) AND u.id <> ALL(now_first) LIMIT 1
        )
    ) INTO told
    FROM standings_page(_board, _device, 3, 0, '-infinity', '-infinity', 0, 0) row
    JOIN leaderboards b ON b.id = _board AND b.visibility = 'public'
        AND (b.deadline IS NULL OR b.deadline > now())
    WHERE row.author_id = _author;
    IF told IS NOT NULL THEN
        PERFORM announce('podium', _board, _run, told);
    END IF;
END;
$$;

-- Tell those who watch the board whom an author's new run has passed. `_old_s`: the author's score
-- before; NULL: there was none.
CREATE FUNCTION announce_passed(
    _board bigint, _device text, _author bigint, _run bigint,
    _score_s double precision, _old_s double precision
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    told bigint;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM watches WHERE leaderboard_id = _board) THEN
        RETURN;
    END IF;
    WITH passed AS (
        INSERT INTO announcements (kind, leaderboard_id, run_id, user_id, data)
        SELECT 'passed', _board, _run, w.user_id,
            jsonb_build_object(
                'device', _device, 'by', a.name, 'score_s', _score_s, 'own_s', s.score_s
            )
        FROM standings s
        JOIN watches w ON w.leaderboard_id = s.leaderboard_id AND w.author_id = s.author_id
        JOIN users a ON a.id = _author
        JOIN users watching ON watching.id = w.author_id
        JOIN leaderboards b ON b.id = _board AND (
            b.visibility = 'public' OR watching.role = 'admin' OR watching.id = b.creator_id
            OR is_member(b.id, watching.id)
        )
        WHERE s.leaderboard_id = _board AND s.device = _device AND s.author_id <> _author
            AND s.score_s > _score_s AND (_old_s IS NULL OR s.score_s < _old_s)
        ON CONFLICT DO NOTHING
        RETURNING id, user_id
    ), due AS (
        INSERT INTO deliveries (announcement_id, guild_id)
        -- A person may watch for two accounts.
        SELECT DISTINCT ON (p.id) p.id, w.guild_id FROM passed p
        JOIN watches w ON w.leaderboard_id = _board AND w.user_id = p.user_id
        ORDER BY p.id, w.author_id
        RETURNING 1
    )
    SELECT count(*) INTO told FROM due;
    IF told > 0 THEN
        PERFORM pg_notify('kernelbot_events', 'announcements');
    END IF;
END;
$$;

-- A board is told of once, as soon as everyone sees it.
CREATE FUNCTION announce_board() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM announce('board', NEW.id, NULL, '{}');
    RETURN NULL;
END;
$$;
CREATE TRIGGER leaderboards_announced AFTER INSERT OR UPDATE OF visibility ON leaderboards
    FOR EACH ROW WHEN (NEW.visibility = 'public') EXECUTE FUNCTION announce_board();
