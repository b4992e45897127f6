-- Whose turn it is: authors take turns on each device, however many runs each has waiting.

-- How many runs of an author wait and run on a device, and the number of their last turn. Turns are
-- numbered and not dated, so that a clock that jumps favours nobody. `last_ranked_turn`: if ranked
-- runs go first, they have turns of their own. `waits` is a separate column because, with the count
-- itself in the index's condition, every change of it needed new entries in all indexes.
CREATE SEQUENCE queue_turn_numbers;
CREATE TABLE queue_turns (
    device text NOT NULL,
    author_id bigint NOT NULL REFERENCES users ON DELETE CASCADE,
    waiting integer NOT NULL DEFAULT 0 CHECK (waiting >= 0),
    waiting_ranked integer NOT NULL DEFAULT 0 CHECK (waiting_ranked BETWEEN 0 AND waiting),
    running integer NOT NULL DEFAULT 0 CHECK (running >= 0),
    last_turn bigint NOT NULL DEFAULT 0,
    last_ranked_turn bigint NOT NULL DEFAULT 0,
    waits boolean NOT NULL GENERATED ALWAYS AS (waiting > 0) STORED,
    PRIMARY KEY (device, author_id)
) WITH (fillfactor = 50);
CREATE INDEX queue_turns_author ON queue_turns (author_id);
CREATE INDEX queue_turns_waiting ON queue_turns (device) WHERE waits;

CREATE TABLE workers (
    owner text PRIMARY KEY,
    node text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE worker_devices (
    owner text NOT NULL REFERENCES workers ON DELETE CASCADE,
    device text NOT NULL,
    available boolean NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (owner, device)
);

-- Counters of a worker since its start, for the metrics.
CREATE TABLE worker_counters (
    owner text NOT NULL REFERENCES workers ON DELETE CASCADE,
    name text NOT NULL,
    label text NOT NULL,
    value double precision NOT NULL,
    PRIMARY KEY (owner, name, label)
);
