-- A device that a board no longer offers may be offered again: what was measured there stays.

-- Rejudges, duels, what is known to be right and decisions belong to the board. Until now they went
-- with the row of its device. Servers of the release before ask for none of them by that row.
ALTER TABLE rejudges
    DROP CONSTRAINT rejudges_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;
ALTER TABLE duels
    DROP CONSTRAINT duels_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;
ALTER TABLE known_right
    DROP CONSTRAINT known_right_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;
ALTER TABLE decisions
    DROP CONSTRAINT decisions_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;

-- A ranking that begins anew has no version that one before it had: numbers of transactions grow, and
-- none of them changes a ranking a million times.
ALTER TABLE leaderboard_devices
    ALTER COLUMN version SET DEFAULT (pg_current_xact_id()::text::bigint << 20);
