-- Whether a board for GPUs takes tests on a processor as well.
ALTER TABLE leaderboards ADD COLUMN try_on_cpu boolean NOT NULL DEFAULT false;
