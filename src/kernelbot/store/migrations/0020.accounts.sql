-- depends: 0002.standings
-- What organisers set: whether submissions are taken, who may come in, how much each may send.

CREATE TYPE limit_category AS ENUM ('test', 'leaderboard');

-- The one row that says whether submissions are taken.
CREATE TABLE platform (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    accepts_jobs boolean NOT NULL DEFAULT true,
    reason text NOT NULL DEFAULT '',
    CONSTRAINT only_a_pause_has_a_reason CHECK (NOT accepts_jobs OR reason = '')
);
INSERT INTO platform DEFAULT VALUES;

CREATE TABLE rate_limits (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    category limit_category NOT NULL,
    max_per_hour integer NOT NULL CHECK (max_per_hour >= 0),
    PRIMARY KEY (leaderboard_id, category)
);

-- What was sent within the last hour where a limit holds. Apart from `submissions`, so that
-- deleting one's own makes no room for more.
CREATE TABLE rate_uses (
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    category limit_category NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    used_at timestamptz NOT NULL
);
CREATE INDEX rate_uses_board_author ON rate_uses (leaderboard_id, author_id, category, used_at);
CREATE INDEX rate_uses_author ON rate_uses (author_id);

-- Invites are made many at once, for the same boards.
CREATE TABLE invite_batches (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_by bigint REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX invite_batches_creator ON invite_batches (created_by);
CREATE TABLE invite_boards (
    batch_id bigint NOT NULL REFERENCES invite_batches ON DELETE CASCADE,
    leaderboard_id bigint NOT NULL REFERENCES leaderboards ON DELETE CASCADE,
    PRIMARY KEY (batch_id, leaderboard_id)
);
CREATE INDEX invite_boards_board ON invite_boards (leaderboard_id);

-- Whoever claimed an invite is a member of its boards, for as long as the invite is there.
CREATE TABLE invites (
    code text PRIMARY KEY CHECK (length(code) BETWEEN 8 AND 64),
    batch_id bigint NOT NULL REFERENCES invite_batches ON DELETE CASCADE,
    user_id bigint REFERENCES users ON DELETE SET NULL,
    claimed_at timestamptz,
    CONSTRAINT a_claim_has_a_time CHECK (user_id IS NULL OR claimed_at IS NOT NULL)
);
CREATE INDEX invites_batch ON invites (batch_id);
CREATE INDEX invites_user ON invites (user_id);

CREATE FUNCTION is_member(_board bigint, _user bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT 1 FROM invites i JOIN invite_boards b ON b.batch_id = i.batch_id
        WHERE i.user_id = _user AND b.leaderboard_id = _board
    );
$$;
