//! Translates a query into SQL. Lists of values are passed as one JSON text, since SQLite limits the number of parameters.

use std::collections::BTreeSet;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use toposcope::store::Direction::Ascending;
use toposcope::store::{Cursor, Key, LinkCondition, Order, Page, Query, Start, StoreError, Term, TermRange};
use toposcope::uuid::Uuid;

use crate::{Outcome, all, first, record};

/// SQL with the values of its parameters, in their order.
#[derive(Clone, Default)]
struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    fn push(&mut self, text: &str, values: impl IntoIterator<Item = Value>) {
        self.text.push_str(text);
        self.values.extend(values);
    }
}

/// Reads one page. It runs in a transaction, so that the page and its total are from one state.
pub(crate) fn list(db: &Connection, query: &Query) -> Outcome<Page> {
    let names: BTreeSet<_> = query.order.iter().map(|field| field.name).collect();
    if names.len() < query.order.len() {
        return Err(StoreError::invalid("the order names a sort key twice").into());
    }
    let filters = filters(query);
    let total = format!("SELECT count(*) FROM record AS r WHERE {}", filters.text);
    let total: Option<i64> = first(db, &total, params_from_iter(&filters.values), |row| row.get(0))?;

    let sql = rows(query, &filters)?;
    let read_row = |row: &rusqlite::Row<'_>| {
        let keys = (0..query.order.len()).map(|number| row.get(2 + number)).collect::<Result<_, _>>()?;
        Ok((row.get::<_, i64>(0)?, Cursor::new(keys, row.get(1)?)))
    };
    let mut rows = all(db, &sql.text, params_from_iter(sql.values), read_row)?;
    // One more row was requested, which shows whether the page is the last.
    let limit = query.limit.unwrap_or(usize::MAX);
    let has_more = rows.len() > limit;
    rows.truncate(limit);

    let (mut records, mut unread, mut bytes) = (Vec::new(), Vec::new(), 0);
    let mut body = db.prepare_cached("SELECT version, body FROM record WHERE row = ?1")?;
    for (row, cursor) in &rows {
        let key = Key::new(query.kind, cursor.id());
        if query.max_bytes.is_some_and(|max| bytes >= max.max(1)) {
            unread.push(key);
            continue;
        }
        let record = body.query_row([row], |row| record(key, row, 0))?;
        bytes += record.body.len();
        records.push(record);
    }
    let next = rows.pop().filter(|_| has_more).map(|(_, cursor)| cursor);
    let mut page = Page::new(records, total.unwrap_or(0).cast_unsigned(), next);
    page.unread = unread;
    Ok(page)
}

/// Returns the query for the rows of a page, with their ids and sort keys. Bodies are left out of the sorting.
fn rows(query: &Query, filters: &Sql) -> Result<Sql, StoreError> {
    let (mut columns, mut order, mut sql) = (String::new(), String::new(), Sql::default());
    for (number, field) in query.order.iter().enumerate() {
        let key = sort_key(number);
        columns += &format!(", {key}");
        order += &format!("{key} {}, ", if field.direction == Ascending { "ASC" } else { "DESC" });
        let join =
            format!(" LEFT JOIN sort_key AS k{number} ON k{number}.row = r.row AND k{number}.name = ?");
        sql.push(&join, [field.name.to_string().into()]);
    }
    sql.text = format!("SELECT r.row, r.id{columns} FROM record AS r{} WHERE {}", sql.text, filters.text);
    sql.values.extend_from_slice(&filters.values);
    let offset = match &query.start {
        Start::Offset(offset) => *offset,
        Start::After(cursor) if cursor.keys().len() == query.order.len() => {
            let after = after(&query.order, cursor);
            sql.push(&format!(" AND {}", after.text), after.values);
            0
        }
        Start::After(_) => return Err(StoreError::invalid("the cursor is of another order")),
        _ => return Err(StoreError::invalid("this store does not know the start")),
    };
    // SQLite takes a negative limit for none.
    let limit = query.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1));
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    sql.push(&format!(" ORDER BY {order}r.id LIMIT {limit} OFFSET {offset}"), []);
    Ok(sql)
}

/// Returns the condition for the positions after a cursor: (a > ?, or a = ? and (b < ?, or b = ? and r.id > ?)).
fn after(order: &[Order], cursor: &Cursor) -> Sql {
    let mut after = Sql { text: "r.id > ?".to_owned(), values: vec![cursor.id().into()] };
    for (number, (field, value)) in order.iter().zip(cursor.keys()).enumerate().rev() {
        let (key, comparison) = (sort_key(number), if field.direction == Ascending { ">" } else { "<" });
        after.text = format!("({key} {comparison} ? OR ({key} = ? AND {}))", after.text);
        after.values.splice(..0, [value.clone().into(), value.clone().into()]);
    }
    after
}

/// Returns the sort key of a sort field. A missing one counts as empty.
fn sort_key(number: usize) -> String {
    format!("coalesce(k{number}.value, x'')")
}

/// Returns the condition that is true for the records that pass all filters.
fn filters(query: &Query) -> Sql {
    const ANY_OF: &str = "IN (SELECT unhex(value) FROM json_each(?))";
    let mut sql = Sql::default();
    sql.push("r.kind = ?", [query.kind.to_string().into()]);
    if let Some(organization) = query.organization {
        sql.push(" AND r.organization = ?", [organization.into()]);
    }
    if let Some(networks) = &query.networks {
        sql.push(&format!(" AND r.network {ANY_OF}"), [json(networks)]);
    }
    if let Some(ids) = &query.ids {
        sql.push(&format!(" AND r.id {ANY_OF}"), [json(ids)]);
    }
    for filter in &query.links {
        let not = if filter.condition == LinkCondition::None { "NOT " } else { "" };
        let linked = format!("SELECT row FROM link WHERE name = ? AND value {ANY_OF}");
        let values = [filter.relation.to_string().into(), json(&filter.targets)];
        sql.push(&format!(" AND r.row {not}IN ({linked})"), values);
    }
    for filter in &query.terms {
        // A range without an end ends after the greatest term. Each range is a search in `term_by_value`.
        let found = "SELECT t.row FROM json_each(?) AS bounds JOIN term AS t ON t.name = ? \
                     AND t.value >= unhex(bounds.value ->> 0) AND t.value < unhex(bounds.value ->> 1)";
        let ranges: Vec<String> = filter.ranges.iter().map(bounds).collect();
        let ranges = Value::Text(format!("[{}]", ranges.join(",")));
        sql.push(&format!(" AND r.row IN ({found})"), [ranges, filter.name.to_string().into()]);
    }
    for filter in &query.keys {
        let key = "coalesce((SELECT value FROM sort_key WHERE row = r.row AND name = ?), x'')";
        let values = [filter.name.to_string().into(), filter.range.from.clone().into()];
        sql.push(&format!(" AND {key} >= ?"), values);
        if let Some(to) = &filter.range.to {
            sql.push(&format!(" AND {key} < ?"), [filter.name.to_string().into(), to.clone().into()]);
        }
    }
    sql
}

/// Returns the bounds of a range of terms as a JSON array.
fn bounds(range: &TermRange) -> String {
    let after_all = [u8::MAX; Term::MAX_LENGTH + 1];
    format!(r#"["{}","{}"]"#, hex(&range.from), hex(range.to.as_deref().unwrap_or(&after_all)))
}

/// Returns ids as a JSON array.
fn json(ids: &[Uuid]) -> Value {
    let ids: Vec<String> = ids.iter().map(|id| format!(r#""{}""#, id.simple())).collect();
    Value::Text(format!("[{}]", ids.join(",")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
