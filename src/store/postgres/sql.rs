//! All SQL of the store. It keeps to the subset that PostgreSQL shares with the distributed databases that use its
//! protocol.
//!
//! Names and kinds are `bytea`, so that no collation matters. `id` comes first in the primary keys, because some
//! databases distribute rows by their first column; the constant `shard` keeps the log in one range of keys. Every
//! parameter has a cast. Names that begin with [`TABLE_PREFIX`] are qualified with the schema.

/// Prefix of all tables.
const TABLE_PREFIX: &str = "topo_";

/// Format of the tables that this version reads and writes.
pub(super) const FORMAT: i64 = 1;

/// Statements that create the tables, each of which may be repeated. The format is written last.
pub(super) const MIGRATION: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS topo_log (shard smallint NOT NULL, position bigint NOT NULL, prev uuid NOT NULL, \
     nonce uuid NOT NULL, changes bytea NOT NULL, PRIMARY KEY (shard, position))",
    "CREATE TABLE IF NOT EXISTS topo_facet (id uuid NOT NULL, kind bytea NOT NULL, facets bytea NOT NULL, \
     PRIMARY KEY (id, kind))",
    "CREATE TABLE IF NOT EXISTS topo_body (id uuid NOT NULL, kind bytea NOT NULL, version bigint NOT NULL, \
     body bytea NOT NULL, PRIMARY KEY (id, kind))",
    "CREATE TABLE IF NOT EXISTS topo_revision (organization uuid NOT NULL, kind bytea NOT NULL, token uuid NOT NULL, \
     PRIMARY KEY (organization, kind))",
    "CREATE TABLE IF NOT EXISTS topo_format (shard smallint NOT NULL, format bigint NOT NULL, PRIMARY KEY (shard))",
];

/// First entry of the log: its position, predecessor and nonce. Only an empty log gets it.
pub(super) const FIRST_ENTRY: &str = "INSERT INTO topo_log (shard, position, prev, nonce, changes) \
    SELECT 0, 0, $1::uuid, $1::uuid, $2::bytea WHERE NOT EXISTS (SELECT 1 FROM topo_log) ON CONFLICT DO NOTHING";

pub(super) const SET_FORMAT: &str =
    "INSERT INTO topo_format (shard, format) SELECT 0, $1::bigint ON CONFLICT DO NOTHING";

pub(super) const READ_FORMAT: &str = "SELECT format FROM topo_format WHERE shard = 0";

pub(super) const BEGIN: &str = "BEGIN";

pub(super) const BEGIN_SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

pub(super) const COMMIT: &str = "COMMIT";

/// Maximum number of entries that one statement reads from the log.
pub(super) const MAX_ENTRIES: usize = 256;

/// The entry at a position, without its changes, and those after it.
pub(super) const TAIL: &str = "SELECT position, nonce, CASE WHEN position > $1::bigint THEN changes END FROM topo_log \
    WHERE shard = 0 AND position >= $1::bigint ORDER BY position LIMIT 256";

/// Like [`TAIL`], together with the bodies of records. One statement sees one state of the database.
pub(super) const TAIL_AND_BODIES: &str = "SELECT position, nonce, changes, NULL::uuid, NULL::bytea, NULL::bigint, \
    NULL::bytea FROM (SELECT position, nonce, CASE WHEN position > $1::bigint THEN changes END AS changes FROM topo_log \
    WHERE shard = 0 AND position >= $1::bigint ORDER BY position LIMIT 256) AS tail \
    UNION ALL SELECT NULL, NULL, NULL, b.id, b.kind, b.version, b.body \
    FROM unnest($2::uuid[], $3::bytea[]) AS w(id, kind) JOIN topo_body AS b ON b.id = w.id AND b.kind = w.kind";

/// The last entry of the log.
pub(super) const LAST: &str =
    "SELECT position, nonce, changes FROM topo_log WHERE shard = 0 ORDER BY position DESC LIMIT 1";

/// The oldest position in the log.
pub(super) const OLDEST: &str = "SELECT position FROM topo_log WHERE shard = 0 ORDER BY position LIMIT 1";

/// The nonce at a position, if there is an entry.
pub(super) const NONCE: &str = "SELECT nonce FROM topo_log WHERE shard = 0 AND position = $1::bigint";

/// Changes nothing, but commits. The commit waits until the synchronous standbys have this and all earlier commits.
pub(super) const CONFIRM: &str = "UPDATE topo_format SET format = format WHERE shard = 0";

/// Appends an entry, puts records, and sets the tokens of revisions. Returns the entry's position, or no row, and then
/// nothing has changed, if there is an entry at the position, or if the predecessor is not the expected one. This is no
/// error, because the server would log each. One statement takes the server less work than one for each table.
pub(super) const APPEND: &str = "WITH appended AS (INSERT INTO topo_log (shard, position, prev, nonce, changes) \
    SELECT 0, $1::bigint, nonce, $3::uuid, $4::bytea FROM topo_log \
    WHERE shard = 0 AND position = $1::bigint - 1 AND nonce = $2::uuid \
    ON CONFLICT (shard, position) DO NOTHING RETURNING position), \
    put_bodies AS (INSERT INTO topo_body (id, kind, version, body) SELECT w.id, w.kind, w.version, w.body \
    FROM appended, unnest($5::uuid[], $6::bytea[], $7::bigint[], $8::bytea[]) AS w(id, kind, version, body) \
    ON CONFLICT (id, kind) DO UPDATE SET version = excluded.version, body = excluded.body), \
    put_facets AS (INSERT INTO topo_facet (id, kind, facets) SELECT w.id, w.kind, w.facets \
    FROM appended, unnest($5::uuid[], $6::bytea[], $9::bytea[]) AS w(id, kind, facets) \
    ON CONFLICT (id, kind) DO UPDATE SET facets = excluded.facets), \
    put_revisions AS (INSERT INTO topo_revision (organization, kind, token) SELECT w.organization, w.kind, $3::uuid \
    FROM appended, unnest($10::uuid[], $11::bytea[]) AS w(organization, kind) \
    ON CONFLICT (organization, kind) DO UPDATE SET token = excluded.token) \
    SELECT position FROM appended";

pub(super) const TRIM: &str =
    "DELETE FROM topo_log WHERE shard = 0 AND position >= $1::bigint AND position < $2::bigint";

/// Deletes records after [`APPEND`] in its transaction, unless the entry was not appended. Some databases that use the
/// protocol do not change a table twice in one statement, so this is one of its own.
pub(super) const DELETE: &str = "WITH appended AS (SELECT position FROM topo_log \
    WHERE shard = 0 AND position = $1::bigint AND nonce = $2::uuid), \
    deleted_bodies AS (DELETE FROM topo_body WHERE (id, kind) IN (SELECT w.id, w.kind \
    FROM appended, unnest($3::uuid[], $4::bytea[]) AS w(id, kind))) \
    DELETE FROM topo_facet WHERE (id, kind) IN (SELECT w.id, w.kind \
    FROM appended, unnest($3::uuid[], $4::bytea[]) AS w(id, kind))";

pub(super) const FACETS: &str = "SELECT id, kind, facets FROM topo_facet";

pub(super) const REVISIONS: &str = "SELECT organization, kind, token FROM topo_revision";

/// The records after a key, limited in number and in the size of their bodies. No further records follow once the
/// bodies exceed the given number of bytes. The inner limit is [`MAX_PIECE_RECORDS`]: without it, the server would plan
/// for a tenth of the table, and read all of it for each piece.
pub(super) const SNAPSHOT_PIECE: &str = "SELECT f.id, f.kind, f.facets, b.body FROM (SELECT id, kind, \
    (sum(size) OVER (ORDER BY id, kind))::bigint - size AS before FROM (SELECT id, kind, \
    octet_length(body)::bigint AS size FROM topo_body WHERE (id, kind) > ($1::uuid, $2::bytea) ORDER BY id, kind \
    LIMIT 1024) AS sizes) AS piece JOIN topo_facet AS f ON f.id = piece.id AND f.kind = piece.kind \
    JOIN topo_body AS b ON b.id = piece.id AND b.kind = piece.kind WHERE piece.before < $4::bigint ORDER BY f.id, f.kind \
    LIMIT $3::bigint";

/// Maximum number of records in a piece of a snapshot.
pub(super) const MAX_PIECE_RECORDS: usize = 1_024;

/// A kind that no record has. It is before all others in a snapshot, and it is the kind of the token which changes
/// all revisions.
pub(super) const NO_KIND: &[u8] = b"";

/// Whether the session cannot write: on a standby, or by a setting.
pub(super) const IS_READ_ONLY: &str = "SHOW transaction_read_only";

/// The system identifier of a server, and the timeline of a primary as a hexadecimal number. Only PostgreSQL has these
/// functions; other databases refuse the statement, and are used without.
pub(super) const HISTORY: &str = "SELECT (SELECT system_identifier FROM pg_control_system()), \
    CASE WHEN pg_is_in_recovery() THEN NULL ELSE substring(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END";

/// The number of the session. It stays the same, unless a pooler assigns the connection to one session after the other.
pub(super) const SESSION: &str = "SELECT pg_backend_pid()";

/// Returns a statement with its tables in a schema.
pub(super) fn qualify(sql: &str, schema: Option<&str>) -> String {
    match schema {
        Some(schema) => sql.replace(TABLE_PREFIX, &format!("{}.{TABLE_PREFIX}", quote(schema))),
        None => sql.to_owned(),
    }
}

pub(super) fn create_schema(schema: &str) -> String {
    format!("CREATE SCHEMA IF NOT EXISTS {}", quote(schema))
}

/// Returns the settings of a session. A server that does not know one of them rejects only that one.
///
/// Statements are planned once: a commit would otherwise be planned anew each time, because the plan for its very
/// records looks cheaper, and that takes longer than what it saves. Every limit that a plan depends on therefore stands
/// in the statement.
pub(super) fn settings(statement_timeout_ms: u128, idle_timeout_ms: u128) -> [String; 4] {
    [
        format!("SET statement_timeout = {statement_timeout_ms}"),
        format!("SET idle_in_transaction_session_timeout = {idle_timeout_ms}"),
        "SET default_toast_compression = 'lz4'".to_owned(),
        "SET plan_cache_mode = force_generic_plan".to_owned(),
    ]
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
