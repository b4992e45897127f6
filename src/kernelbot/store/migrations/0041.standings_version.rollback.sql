DROP TRIGGER users_renamed ON users;
DROP FUNCTION count_name_change;
DROP TRIGGER standings_go ON standings;
DROP TRIGGER standings_come ON standings;
DROP FUNCTION count_standings_change;
ALTER TABLE leaderboard_devices DROP COLUMN version;
