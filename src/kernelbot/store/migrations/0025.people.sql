-- What people show of themselves.

-- Whether an author's page is for nobody else but admins.
ALTER TABLE users ADD COLUMN page_is_private boolean NOT NULL DEFAULT false;

-- Links by which authors show a result to whoever has the secret, which the author is shown again.
CREATE TABLE result_links (
    submission_id bigint PRIMARY KEY REFERENCES submissions ON DELETE CASCADE,
    secret text NOT NULL UNIQUE,
    shows_code boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

-- Which boards and authors a person follows.
CREATE TABLE follows (
    follower_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    leaderboard_id bigint REFERENCES leaderboards ON DELETE CASCADE,
    author_id bigint REFERENCES users ON DELETE CASCADE,
    CHECK (num_nonnulls(leaderboard_id, author_id) = 1),
    UNIQUE (follower_id, leaderboard_id),
    UNIQUE (follower_id, author_id)
);
CREATE INDEX follows_board ON follows (leaderboard_id);
CREATE INDEX follows_author ON follows (author_id);
