-- What a score says beyond its own samples, and who won a duel.

-- `scatter`: the standard deviation of ln(score) from one judging to the next that the board's device
-- had shown when this run was measured. `repeats`: how often the run was measured again because its
-- interval was too wide.
ALTER TABLE runs ADD COLUMN scatter double precision NOT NULL DEFAULT 0
    CHECK (scatter >= 0 AND scatter < 1);
ALTER TABLE runs ADD COLUMN repeats integer NOT NULL DEFAULT 0 CHECK (repeats >= 0);
-- The latest scores of a device, from which its scatter is estimated.
CREATE INDEX runs_scored ON runs (device, finished_at DESC)
    WHERE state = 'finished' AND secret AND score_s IS NOT NULL;
-- `wins`: of a duel with an author's best, whether the run replaces it.
ALTER TABLE duels ADD COLUMN wins boolean NOT NULL DEFAULT false;
UPDATE duels SET wins = true WHERE reason = 'own_best' AND ratio_high < 1;
ALTER TABLE duels ADD CONSTRAINT only_measured_wins CHECK (NOT wins OR state = 'measured');
