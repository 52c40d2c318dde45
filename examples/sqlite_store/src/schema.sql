-- A record. `row` is the number by which the tables below refer to it; a record that is put again gets a new one. Ids are
-- 16 bytes, times are microseconds since 1970. SQLite compares blobs as the contract compares ids, terms and keys: as
-- unsigned bytes, a prefix before its extensions.
CREATE TABLE IF NOT EXISTS record (
    row INTEGER PRIMARY KEY, kind TEXT NOT NULL, id BLOB NOT NULL, version INTEGER NOT NULL,
    organization BLOB, network BLOB, expires_at INTEGER, body BLOB NOT NULL, UNIQUE (kind, id)
) STRICT;
CREATE INDEX IF NOT EXISTS record_by_organization ON record (kind, organization);
CREATE INDEX IF NOT EXISTS record_by_network ON record (network);
CREATE INDEX IF NOT EXISTS record_by_expiry ON record (expires_at) WHERE expires_at IS NOT NULL;

-- The facets of which a record has several, one table for each. They go with their record. The primary keys serve reads
-- by record, the indexes serve filters and guards, which read by value.
CREATE TABLE IF NOT EXISTS link ( -- The name is the relation, the value the id of the target.
    row INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (row, name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS link_by_value ON link (name, value);
CREATE TABLE IF NOT EXISTS term (
    row INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (row, name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS term_by_value ON term (name, value);
CREATE TABLE IF NOT EXISTS sort_key (
    row INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (row, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unique_key ( -- The primary key refuses a unique key that another record has.
    row INTEGER NOT NULL REFERENCES record ON DELETE CASCADE, name TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (name, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS unique_key_by_row ON unique_key (row);

-- The highest version so far, apart from the records, because the newest of them may be deleted.
CREATE TABLE IF NOT EXISTS counter (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO counter VALUES (1, 0);

-- The revisions: random, so that none comes back when a backup of the file is restored. A put deletes and inserts, so
-- these triggers see both the former and the new organization of a record.
CREATE TABLE IF NOT EXISTS revision (
    kind TEXT NOT NULL, organization BLOB NOT NULL, number BLOB NOT NULL, PRIMARY KEY (kind, organization)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS revision_of_insert AFTER INSERT ON record WHEN NEW.organization IS NOT NULL BEGIN
    INSERT OR REPLACE INTO revision VALUES (NEW.kind, NEW.organization, randomblob(16));
END;
CREATE TRIGGER IF NOT EXISTS revision_of_delete AFTER DELETE ON record WHEN OLD.organization IS NOT NULL BEGIN
    INSERT OR REPLACE INTO revision VALUES (OLD.kind, OLD.organization, randomblob(16));
END;
