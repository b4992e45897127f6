-- name: places
SELECT category_id, forum_id, submissions_id, general_id,
    admin_role_id, creator_role_id, participant_role_id
FROM guilds WHERE id = %(guild_id)s;

-- name: set_places
INSERT INTO guilds (
    id, category_id, forum_id, submissions_id, general_id,
    admin_role_id, creator_role_id, participant_role_id
)
VALUES (
    %(guild_id)s, %(category_id)s, %(forum_id)s, %(submissions_id)s, %(general_id)s,
    %(admin_role_id)s, %(creator_role_id)s, %(participant_role_id)s
)
ON CONFLICT (id) DO UPDATE SET
    category_id = excluded.category_id,
    forum_id = excluded.forum_id,
    submissions_id = excluded.submissions_id,
    general_id = excluded.general_id,
    admin_role_id = excluded.admin_role_id,
    creator_role_id = excluded.creator_role_id,
    participant_role_id = excluded.participant_role_id;
