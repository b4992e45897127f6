-- depends: 0002.standings
-- How often a ranking has changed, so that whoever keeps a page of it can tell whether it is still
-- true. Who leads changes only together with a row that comes or goes.
ALTER TABLE leaderboard_devices ADD COLUMN version bigint NOT NULL DEFAULT 0;

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

-- A ranking shows names too.
CREATE FUNCTION count_name_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE leaderboard_devices d SET version = version + 1
    FROM standings s
    WHERE s.author_id = NEW.id AND d.leaderboard_id = s.leaderboard_id AND d.device = s.device;
    RETURN NULL;
END;
$$;
CREATE TRIGGER users_renamed AFTER UPDATE OF name ON users
    FOR EACH ROW WHEN (OLD.name <> NEW.name) EXECUTE FUNCTION count_name_change();
