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

-- name: settings
SELECT g.tell_podium AS podium, g.tell_boards AS new_boards, g.tell_weekly AS weekly,
    c.name AS competition, g.time_zone
FROM guilds g LEFT JOIN competitions c ON c.id = g.competition_id WHERE g.id = %(guild_id)s;

-- name: set_settings
UPDATE guilds SET tell_podium = %(podium)s, tell_boards = %(new_boards)s,
    tell_weekly = %(weekly)s, time_zone = %(time_zone)s,
    competition_id = (SELECT id FROM competitions WHERE name = %(competition)s)
WHERE id = %(guild_id)s;

-- name: competitions
SELECT name FROM competitions ORDER BY id DESC;

-- name: time_zone
SELECT 1 FROM pg_timezone_names WHERE name = %(name)s;
