-- What the Discord bot must not forget when it starts again.

-- Ids are Discord's. What is NULL couldn't be made yet.
CREATE TABLE guilds (
    id bigint PRIMARY KEY,
    category_id bigint,
    forum_id bigint,
    submissions_id bigint,
    general_id bigint,
    admin_role_id bigint,
    creator_role_id bigint,
    participant_role_id bigint,
    weekly_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT now());
-- The answers that tell of submissions. `done_at`: nothing is told any more; the row stays for a
-- while, so that a button can't be used twice. `token` is a secret for 15 minutes.
CREATE TABLE chat_answers (
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
    created_at timestamptz NOT NULL DEFAULT now());
-- Who is told if somebody passes them on a board. `user_id` is Discord's.
CREATE TABLE watches (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    guild_id bigint NOT NULL REFERENCES guilds ON DELETE CASCADE,
    user_id bigint NOT NULL,
    PRIMARY KEY (leaderboard_id, author_id));
CREATE INDEX watches_author ON watches (author_id);
CREATE INDEX watches_guild ON watches (guild_id);
-- The outbox. A run is told of once to everyone (and once to each of those whom it passed, by
-- their `user_id`), and so is a board. A weekly summary belongs to no board.
CREATE TABLE announcements (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (kind IN ('podium', 'board', 'passed', 'weekly')),
    leaderboard_id bigint REFERENCES leaderboards ON DELETE CASCADE,
    run_id bigint REFERENCES runs ON DELETE CASCADE,
    user_id bigint,
    data jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT ranks_have_a_run
      CHECK ((kind IN ('podium', 'passed')) = (run_id IS NOT NULL)),
    CONSTRAINT passed_has_a_person CHECK ((kind = 'passed') = (user_id IS NOT NULL)),
    CONSTRAINT weekly_has_no_board CHECK ((kind = 'weekly') = (leaderboard_id IS NULL)));
CREATE INDEX announcements_board ON announcements (leaderboard_id);
CREATE INDEX announcements_run ON announcements (run_id);
CREATE UNIQUE INDEX announcements_of_runs ON announcements (run_id, coalesce(user_id, 0))
    WHERE run_id IS NOT NULL;
CREATE UNIQUE INDEX announcements_of_boards ON announcements (leaderboard_id)
    WHERE kind = 'board';
-- `message_id`: what tells it there; of a board its thread.
CREATE TABLE deliveries (
    announcement_id bigint NOT NULL REFERENCES announcements ON DELETE CASCADE,
    guild_id bigint NOT NULL REFERENCES guilds ON DELETE CASCADE,
    tries integer NOT NULL DEFAULT 0,
    next_at timestamptz NOT NULL DEFAULT now(),
    delivered_at timestamptz,
    message_id bigint,
    PRIMARY KEY (announcement_id, guild_id));
CREATE INDEX deliveries_due ON deliveries (guild_id, next_at);
CREATE INDEX chat_answers_submission ON chat_answers (submission_id);
CREATE INDEX chat_answers_open ON chat_answers (guild_id) WHERE done_at IS NULL;
