ALTER TABLE guilds ADD COLUMN IF NOT EXISTS weekly_at timestamptz NOT NULL DEFAULT now();

CREATE TABLE IF NOT EXISTS chat_answers (
    message_id bigint PRIMARY KEY,
    guild_id bigint NOT NULL,
    channel_id bigint NOT NULL,
    user_id bigint NOT NULL,
    user_name text NOT NULL,
    token text,
    token_expires_at timestamptz NOT NULL,
    submission_id bigint REFERENCES submissions ON DELETE CASCADE,
    public_message_id bigint,
    done_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS chat_answers_submission ON chat_answers (submission_id);
CREATE INDEX IF NOT EXISTS chat_answers_open ON chat_answers (guild_id) WHERE done_at IS NULL;

CREATE TABLE IF NOT EXISTS watches (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    guild_id bigint NOT NULL REFERENCES guilds ON DELETE CASCADE,
    user_id bigint NOT NULL,
    PRIMARY KEY (leaderboard_id, author_id)
);
CREATE INDEX IF NOT EXISTS watches_author ON watches (author_id);
CREATE INDEX IF NOT EXISTS watches_guild ON watches (guild_id);

CREATE TABLE IF NOT EXISTS announcements (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL,
    leaderboard_id bigint REFERENCES leaderboards ON DELETE CASCADE,
    run_id bigint REFERENCES runs ON DELETE CASCADE,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE announcements
    ADD COLUMN IF NOT EXISTS user_id bigint,
    ALTER COLUMN leaderboard_id DROP NOT NULL,
    DROP CONSTRAINT IF EXISTS announcements_run_id_key,
    DROP CONSTRAINT IF EXISTS a_podium_has_a_run,
    DROP CONSTRAINT IF EXISTS announcements_kind_check,
    DROP CONSTRAINT IF EXISTS ranks_have_a_run,
    DROP CONSTRAINT IF EXISTS passed_has_a_person,
    DROP CONSTRAINT IF EXISTS weekly_has_no_board;
ALTER TABLE announcements
    ADD CONSTRAINT announcements_kind_check
        CHECK (kind IN ('podium', 'board', 'passed', 'weekly')),
    ADD CONSTRAINT ranks_have_a_run
        CHECK ((kind IN ('podium', 'passed')) = (run_id IS NOT NULL)),
    ADD CONSTRAINT passed_has_a_person CHECK ((kind = 'passed') = (user_id IS NOT NULL)),
    ADD CONSTRAINT weekly_has_no_board CHECK ((kind = 'weekly') = (leaderboard_id IS NULL));
CREATE INDEX IF NOT EXISTS announcements_board ON announcements (leaderboard_id);
CREATE INDEX IF NOT EXISTS announcements_run ON announcements (run_id);
CREATE UNIQUE INDEX IF NOT EXISTS announcements_of_runs
    ON announcements (run_id, coalesce(user_id, 0)) WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX IF NOT EXISTS announcements_of_boards ON announcements (leaderboard_id)
    WHERE kind = 'board';

CREATE TABLE IF NOT EXISTS deliveries (
    announcement_id bigint NOT NULL REFERENCES announcements ON DELETE CASCADE,
    guild_id bigint NOT NULL REFERENCES guilds ON DELETE CASCADE,
    tries integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    delivered_at timestamptz,
    message_id bigint,
    PRIMARY KEY (announcement_id, guild_id)
);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (guild_id, next_at);
