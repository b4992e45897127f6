-- What each Discord guild chooses, and answers for which nothing will be submitted.

-- `competition_id`: the only one whose boards the guild is about; NULL: all boards.
ALTER TABLE guilds
    ADD COLUMN tell_podium boolean NOT NULL DEFAULT true,
    ADD COLUMN tell_boards boolean NOT NULL DEFAULT true,
    ADD COLUMN tell_weekly boolean NOT NULL DEFAULT true,
    ADD COLUMN competition_id bigint REFERENCES competitions ON DELETE SET NULL,
    ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC';
CREATE INDEX guilds_competition ON guilds (competition_id);
-- The bot stopped before it submitted: its successor says so, and then it is done.
ALTER TABLE chat_answers ADD COLUMN given_up_at timestamptz;
