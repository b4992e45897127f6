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

-- A board is told of once, as soon as everyone sees it.
CREATE FUNCTION announce_board() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM announce('board', NEW.id, NULL, '{}');
    RETURN NULL;
END;
$$;
CREATE TRIGGER leaderboards_announced AFTER INSERT OR UPDATE OF visibility ON leaderboards
    FOR EACH ROW WHEN (NEW.visibility = 'public') EXECUTE FUNCTION announce_board();
