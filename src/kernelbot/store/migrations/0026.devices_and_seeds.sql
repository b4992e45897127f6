-- What stays when a board changes: a device that it no longer offers may be offered again, and a seed
-- that all share may be so again.

-- Rejudges, duels and what is known to be right belong to the board. Until now they went with the row
-- of its device. Servers of the release before ask for none of them by that row. A duel goes with its
-- submissions, without which no board goes: a key to the board would only lock it while a verdict is
-- written.
ALTER TABLE rejudges
    DROP CONSTRAINT rejudges_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;
ALTER TABLE known_right
    DROP CONSTRAINT known_right_leaderboard_id_device_fkey,
    ADD FOREIGN KEY (leaderboard_id) REFERENCES leaderboards ON DELETE CASCADE;
ALTER TABLE duels DROP CONSTRAINT duels_leaderboard_id_device_fkey;

-- A ranking that begins anew has no version that one before it had: numbers of transactions grow, and
-- none of them changes a ranking a million times.
ALTER TABLE leaderboard_devices
    ALTER COLUMN version SET DEFAULT (pg_current_xact_id()::text::bigint << 20);

-- Whether one of the run's attempts had the seed that all secret runs of the board share: it is the
-- same one again if the board has `fixed_seed` again.
ALTER TABLE runs ADD COLUMN shared_seed boolean NOT NULL DEFAULT false;
UPDATE runs r SET shared_seed = true
FROM submissions s JOIN leaderboards b ON b.id = s.leaderboard_id AND b.fixed_seed
WHERE r.submission_id = s.id AND r.secret AND r.attempts > 0;
UPDATE runs r SET shared_seed = true
FROM duels d JOIN leaderboards b ON b.id = d.leaderboard_id AND b.fixed_seed
WHERE r.duel_id = d.id AND r.attempts > 0;
