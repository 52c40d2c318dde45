//! Applies a batch. It runs in a transaction during which no other one writes, and which an error rolls
//! back.

use std::collections::{BTreeSet, HashSet};

use rusqlite::Connection;
use toposcope::model::Timestamp;
use toposcope::store::{
    Batch, Facets, Guard, Key, Name, Precondition, StoreError, Term, UniqueKey, Version, Write,
};

use crate::{Outcome, all, first, key};

pub(crate) fn commit(db: &Connection, batch: &Batch) -> Outcome {
    let written: HashSet<Key> = batch.writes().iter().map(Write::key).collect();
    if written.len() < batch.writes().len() || batch.writes().iter().any(is_invalid) {
        return Err(StoreError::invalid("two writes of one key, or a write that is not allowed").into());
    }
    // Preconditions and guards look at the state before the batch.
    for write in batch.writes() {
        expect(db, write.key(), write.precondition())?;
    }
    for guard in batch.guards() {
        check_guard(db, guard, &written)?;
    }
    // All written records go first, so that a unique key is free for its new record.
    let mut delete = db.prepare_cached("DELETE FROM record WHERE kind = ?1 AND id = ?2")?;
    for key in &written {
        delete.execute((key.kind.as_str(), key.id))?;
    }
    if !written.is_empty() {
        let sql = "UPDATE counter SET version = version + 1 RETURNING version";
        let version = db.prepare_cached(sql)?.query_row((), |row| row.get(0))?;
        batch.writes().iter().try_for_each(|write| put(db, write, version))?;
    }
    Ok(())
}

/// Returns whether the contract calls a write invalid, or it is of a kind that came later than this store.
fn is_invalid(write: &Write) -> bool {
    let Write::Put { facets, .. } = write else { return !matches!(write, Write::Delete { .. }) };
    let names: BTreeSet<_> = facets.sort_keys.iter().map(|sort_key| sort_key.name).collect();
    names.len() < facets.sort_keys.len()
        || facets.terms.iter().any(|term| term.value.len() > Term::MAX_LENGTH)
        || facets.unique_keys.iter().any(|key| key.value.len() > UniqueKey::MAX_LENGTH)
}

/// Checks a precondition.
fn expect(db: &Connection, key: Key, precondition: Precondition) -> Outcome {
    let sql = "SELECT version FROM record WHERE kind = ?1 AND id = ?2";
    let found = first(db, sql, (key.kind.as_str(), key.id), |row| row.get::<_, i64>(0))?;
    let version = found.map(|version| Version(version.cast_unsigned()));
    let is_met = match precondition {
        Precondition::Absent => version.is_none(),
        Precondition::Present => version.is_some(),
        Precondition::Version(expected) => version == Some(expected),
        Precondition::Any => true,
        _ => return Err(StoreError::invalid("this store does not know the precondition").into()),
    };
    if is_met { Ok(()) } else { Err(StoreError::conflict(key).into()) }
}

fn check_guard(db: &Connection, guard: &Guard, written: &HashSet<Key>) -> Outcome {
    let are_written = |found: Vec<Key>| found.iter().all(|key| written.contains(key));
    let (is_met, error) = match guard {
        Guard::Record { key, precondition, .. } => return expect(db, *key, *precondition),
        Guard::UniqueKey { unique_key, holder, .. } => {
            let sql =
                "SELECT kind, id FROM unique_key JOIN record USING (row) WHERE name = ?1 AND value = ?2";
            let found = first(db, sql, (unique_key.name.as_str(), &unique_key.value), |row| key(row, 0))?;
            (found == *holder, StoreError::unique_key_taken(unique_key.clone()))
        }
        Guard::LinkedWithin { organization, link, .. } => {
            let sql = "SELECT kind, id FROM link JOIN record USING (row) WHERE name = ?1 AND value = ?2 \
                       AND (?3 IS NULL OR organization = ?3)";
            let values = (link.relation.as_str(), link.target, organization);
            (are_written(all(db, sql, values, |row| key(row, 0))?), StoreError::linked(*link))
        }
        Guard::NetworkEmpty { organization, network, except, .. } => {
            let sql = "SELECT kind, id FROM record WHERE network = ?1 AND (?2 IS NULL OR organization = ?2)";
            let mut found = all(db, sql, (network, organization), |row| key(row, 0))?;
            found.retain(|key| !except.contains(&key.kind));
            (are_written(found), StoreError::network_in_use(*network))
        }
        _ => (false, StoreError::invalid("this store does not know the guard")),
    };
    if is_met { Ok(()) } else { Err(error.into()) }
}

/// Inserts a record with its facets. `OR IGNORE`, because the same link or term twice counts once.
fn put(db: &Connection, write: &Write, version: i64) -> Outcome {
    let Write::Put { key, facets, body, .. } = write else { return Ok(()) };
    let facets = facets.completed(Version(version.cast_unsigned()));
    let Facets { organization, network, expires_at, links, terms, sort_keys, unique_keys, .. } = &*facets;
    let sql = "INSERT INTO record (kind, id, version, organization, network, expires_at, body) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let expires_at = expires_at.map(Timestamp::unix_micros);
    let values = (key.kind.as_str(), key.id, version, organization, network, expires_at, &body[..]);
    let row = db.prepare_cached(sql)?.insert(values)?;
    let insert = |table: &str, name: Name, value: &[u8]| {
        let sql = format!("INSERT OR IGNORE INTO {table} (row, name, value) VALUES (?1, ?2, ?3)");
        db.prepare_cached(&sql)?.execute((row, name.as_str(), value))
    };
    for link in links {
        insert("link", link.relation, link.target.as_bytes())?;
    }
    for term in terms {
        insert("term", term.name, &term.value)?;
    }
    for sort_key in sort_keys {
        insert("sort_key", sort_key.name, &sort_key.value)?;
    }
    for unique_key in unique_keys.iter().collect::<BTreeSet<_>>() {
        if insert("unique_key", unique_key.name, &unique_key.value)? == 0 {
            return Err(StoreError::unique_key_taken(unique_key.clone()).into());
        }
    }
    Ok(())
}
