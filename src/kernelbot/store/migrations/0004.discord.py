"""What the Discord bot must not forget when it starts again."""

from yoyo import step

__depends__ = {"0002.launchers"}

steps = [
    # Ids are Discord's. What is NULL couldn't be made yet.
    step(
        "CREATE TABLE guilds ("
        " id bigint PRIMARY KEY,"
        " category_id bigint,"
        " forum_id bigint,"
        " submissions_id bigint,"
        " general_id bigint,"
        " admin_role_id bigint,"
        " creator_role_id bigint,"
        " participant_role_id bigint,"
        " created_at timestamptz NOT NULL DEFAULT now())"
    ),
    # The answers that tell of submissions. `done_at`: nothing is told any more; the row stays for a
    # while, so that a button can't be used twice. `token` is a secret for 15 minutes.
    step(
        "CREATE TABLE chat_answers ("
        " message_id bigint PRIMARY KEY,"
        " guild_id bigint NOT NULL,"
        " channel_id bigint NOT NULL,"
        " user_id bigint NOT NULL,"
        " user_name text NOT NULL,"
        " token text,"
        " token_expires_at timestamptz NOT NULL,"
        " submission_id bigint REFERENCES submissions ON DELETE CASCADE,"
        " public_message_id bigint,"
        " done_at timestamptz,"
        " created_at timestamptz NOT NULL DEFAULT now())"
    ),
    # The outbox. A run is told of once, and so is a board.
    step(
        "CREATE TABLE announcements ("
        " id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " kind text NOT NULL CHECK (kind IN ('podium', 'board')),"
        " leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,"
        " run_id bigint UNIQUE REFERENCES runs ON DELETE CASCADE,"
        " data jsonb NOT NULL,"
        " created_at timestamptz NOT NULL DEFAULT now(),"
        " CONSTRAINT a_podium_has_a_run CHECK ((kind = 'podium') = (run_id IS NOT NULL)))"
    ),
    step("CREATE INDEX announcements_board ON announcements (leaderboard_id)"),
    step(
        "CREATE UNIQUE INDEX announcements_of_boards ON announcements (leaderboard_id)"
        " WHERE kind = 'board'"
    ),
    # `message_id`: what tells it there; of a board its thread.
    step(
        "CREATE TABLE deliveries ("
        " announcement_id bigint NOT NULL REFERENCES announcements ON DELETE CASCADE,"
        " guild_id bigint NOT NULL REFERENCES guilds ON DELETE CASCADE,"
        " tries integer NOT NULL DEFAULT 0,"
        " next_at timestamptz NOT NULL DEFAULT now(),"
        " delivered_at timestamptz,"
        " message_id bigint,"
        " PRIMARY KEY (announcement_id, guild_id))"
    ),
    step("CREATE INDEX deliveries_due ON deliveries (guild_id, next_at)"),
    step("CREATE INDEX chat_answers_submission ON chat_answers (submission_id)"),
    step("CREATE INDEX chat_answers_open ON chat_answers (guild_id) WHERE done_at IS NULL"),
]
