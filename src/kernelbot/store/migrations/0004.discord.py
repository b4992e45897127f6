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
]
