CREATE TABLE IF NOT EXISTS decisions (
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    leaderboard_id bigint NOT NULL,
    device text NOT NULL,
    decided_by bigint NOT NULL,
    PRIMARY KEY (author_id, leaderboard_id, device),
    FOREIGN KEY (leaderboard_id, device) REFERENCES leaderboard_devices ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS decisions_board ON decisions (leaderboard_id, device);
