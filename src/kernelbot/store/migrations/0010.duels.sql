-- Duels, and the runs that execute them.

CREATE TYPE duel_reason AS ENUM ('own_best', 'neighbours');
CREATE TYPE duel_state AS ENUM ('waiting', 'measured', 'failed');
-- Two measured runs whose kernels are called in turn. `note`: why there is no ratio; `refused`:
-- whether the run that wants to pass, or stands behind, wasn't accepted in it.
CREATE TABLE duels (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    reason duel_reason NOT NULL,
    submission_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    opponent_id bigint NOT NULL REFERENCES submissions ON DELETE CASCADE,
    run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    opponent_run_id bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
    state duel_state NOT NULL DEFAULT 'waiting',
    ratio double precision,
    ratio_low double precision,
    ratio_high double precision,
    note text,
    refused boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE,
    CONSTRAINT only_measured_has_a_ratio CHECK (
      (state = 'measured') = (ratio IS NOT NULL)
      AND (ratio IS NULL) = (ratio_low IS NULL) AND (ratio IS NULL) = (ratio_high IS NULL)),
    CONSTRAINT ratio_is_in_its_interval CHECK (
      ratio_low > 0 AND ratio_low <= ratio AND ratio <= ratio_high
      AND ratio_high < 'Infinity'),
    CONSTRAINT only_failed_has_a_note CHECK ((state = 'failed') = (note IS NOT NULL)),
    CONSTRAINT only_failed_is_refused CHECK (NOT refused OR state = 'failed'),
    CONSTRAINT ends_have_a_time CHECK ((state = 'waiting') = (ended_at IS NULL)));
-- Two runs are dueled once, whichever is which.
CREATE UNIQUE INDEX duels_once
    ON duels (least(run_id, opponent_run_id), greatest(run_id, opponent_run_id));
CREATE INDEX duels_board ON duels (leaderboard_id, id DESC);
CREATE INDEX duels_waiting ON duels (device, id) WHERE state = 'waiting';
CREATE INDEX duels_submission ON duels (submission_id);
CREATE INDEX duels_opponent ON duels (opponent_id);
CREATE INDEX duels_run ON duels (run_id, opponent_run_id);
CREATE INDEX duels_opponent_run ON duels (opponent_run_id);
-- The same table as `domain/duels.py`; a test compares them.
CREATE TABLE duel_transitions (before duel_state NOT NULL, after duel_state NOT NULL,
    PRIMARY KEY (before, after));
INSERT INTO duel_transitions VALUES ('waiting', 'measured'), ('waiting', 'failed');
-- A duel's run is no submission's, so that nothing that asks for a submission's runs finds it.
ALTER TABLE runs ALTER COLUMN submission_id DROP NOT NULL;
ALTER TABLE runs ADD COLUMN duel_id bigint REFERENCES duels ON DELETE CASCADE;
ALTER TABLE runs ADD CONSTRAINT of_a_submission_or_a_duel
    CHECK ((submission_id IS NULL) = (duel_id IS NOT NULL));
ALTER TABLE runs DROP CONSTRAINT runs_once;
ALTER TABLE runs ADD CONSTRAINT runs_once
    UNIQUE NULLS NOT DISTINCT (submission_id, device, secret, rejudge_id, duel_id);
CREATE INDEX runs_duel ON runs (duel_id) WHERE duel_id IS NOT NULL;
-- Neighbours are dueled in so many places of each ranking; NULL: there are no duels.
ALTER TABLE platform ADD COLUMN duel_places integer DEFAULT 10 CHECK (duel_places >= 0);
