DROP FUNCTION standing_rank;
DROP FUNCTION rebuild_standings;
DROP FUNCTION refresh_standing;
DROP FUNCTION mark_leaders;
DROP TABLE standings;
DROP VIEW eligible_runs;
