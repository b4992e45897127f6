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
    step("CREATE INDEX chat_answers_submission ON chat_answers (submission_id)"),
    step("CREATE INDEX chat_answers_open ON chat_answers (guild_id) WHERE done_at IS NULL"),
]
