-- Whether a board refuses submissions for a device that takes no jobs, or lets them wait.

ALTER TABLE leaderboards ADD COLUMN refuse_unavailable boolean NOT NULL DEFAULT false;
