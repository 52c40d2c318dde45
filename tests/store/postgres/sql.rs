//! The SQL of the store uses only the subset that distributed databases understand, too.

use std::collections::BTreeSet;
use std::path::PathBuf;

const SQL: &str = include_str!("../../../src/store/postgres/sql.rs");

/// Keywords, functions and types that the statements may use.
const ALLOWED: &str = "ADD AND AS BEGIN BY CASE COMMIT CONFLICT CREATE DELETE DESC DO ELSE END EXISTS FROM IF IN INSERT INTO \
    ISOLATION JOIN KEY LEVEL LIMIT NOT NOTHING NULL ON ONLY ORDER OVER PRIMARY READ REPEATABLE RETURNING SCHEMA SELECT SET SHOW TABLE \
    THEN UNION ALL UPDATE VALUES WHEN WHERE WITH \
    bigint bytea smallint uuid excluded octet_length pg_backend_pid sum unnest \
    default_toast_compression plan_cache_mode force_generic_plan idle_in_transaction_session_timeout \
    statement_timeout transaction_read_only lz4";

/// Functions that only PostgreSQL has. The statement that asks for its history may use them, because a database that
/// refuses this statement is used without.
const HISTORY: &str =
    "pg_control_system pg_current_wal_lsn pg_is_in_recovery pg_walfile_name substring system_identifier";

/// Tables, columns and names within a statement.
const NAMES: &str = "topo_body topo_facet topo_format topo_log topo_revision topo_ \
    before body changes facets format id kind nonce organization position prev shard size token version \
    appended b deleted_bodies f piece put_bodies put_facets put_revisions sizes tail w";

/// Returns the string literals of the source, without comments.
fn statements() -> Vec<String> {
    let lines = SQL.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let code = lines.collect::<Vec<_>>().join(" ").replace("\\\"", "'");
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn words(statement: &str) -> impl Iterator<Item = &str> {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let words = statement.split(move |character| !is_word(character));
    words.filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
}

#[test]
fn statements_use_only_portable_words() {
    let allowed: BTreeSet<&str> = words(ALLOWED).chain(words(NAMES)).collect();
    let statements = statements();
    assert!(statements.len() > 25, "only {} statements were found", statements.len());
    for statement in &statements {
        // Numbers and the quoted name of the schema are inserted when the store is opened.
        let fixed = statement.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
        let is_history = statement.contains("pg_control_system");
        for word in fixed.flat_map(words) {
            let is_allowed = allowed.contains(word) || is_history && words(HISTORY).any(|name| name == word);
            assert!(is_allowed, "{word} in: {statement}");
        }
    }
}

#[test]
fn every_parameter_has_a_cast() {
    for statement in statements() {
        for (place, _) in statement.match_indices('$') {
            let parameter = statement[place + 1..].trim_start_matches(|digit: char| digit.is_ascii_digit());
            assert!(parameter.starts_with("::"), "{statement}");
        }
    }
}

#[test]
fn no_statement_changes_a_table_twice() {
    for statement in statements() {
        for table in ["topo_body", "topo_facet", "topo_format", "topo_log", "topo_revision"] {
            let changes = ["INSERT INTO", "DELETE FROM", "UPDATE"]
                .map(|verb| statement.matches(&format!("{verb} {table}")).count());
            assert!(changes.iter().sum::<usize>() <= 1, "{table} in: {statement}");
        }
    }
}

/// Statements are planned once, without their parameters. Below a join, an unknown limit would be taken for a tenth of
/// the table, for which the server reads tables whole.
#[test]
fn only_the_end_of_a_statement_has_a_limit_that_is_a_parameter() {
    for statement in statements() {
        for (place, _) in statement.match_indices("LIMIT $") {
            assert!(!statement[place..].contains([')', ';']), "{statement}");
        }
    }
}

#[test]
fn no_other_file_of_the_store_has_sql() {
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/postgres"))];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        for path in paths.filter(|path| !path.ends_with("sql.rs")) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let source = std::fs::read_to_string(&path).unwrap();
            for word in ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "topo_"] {
                assert!(!source.contains(word), "{word} in {}", path.display());
            }
        }
    }
    assert!(files > 20, "only {files} files were found");
}
