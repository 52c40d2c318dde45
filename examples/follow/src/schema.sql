-- The records, each as the API returns it.
CREATE TABLE IF NOT EXISTS record (
    entity TEXT NOT NULL, -- Host, Network, Subnet or Tag
    id TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (entity, id)
);

-- The records while lists are read. Only the last transaction moves them to the copy.
CREATE TEMP TABLE incoming (
    entity TEXT NOT NULL,
    id TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (entity, id)
);

-- What the records are a copy of: one row, once the lists have been read.
CREATE TABLE IF NOT EXISTS source (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    organization TEXT NOT NULL,
    -- The last entry of the history that the records include; null: the history no longer has it.
    position TEXT
);

-- What is not posted yet, in the order of the history.
CREATE TABLE IF NOT EXISTS outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    -- The position of the change.
    id TEXT NOT NULL,
    event TEXT NOT NULL, -- change or renewed
    body TEXT NOT NULL
);
