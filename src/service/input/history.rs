//! Queries of the history.

use std::str::FromStr;

use super::parameters::DEFAULT_LIMIT;
use super::query_values::{KnownParameters, QueryValues, with_sign};
use crate::inventory::{ChangeQuery, Moment};
use crate::model::ChangePosition;
use crate::service::response::error::ApiError;
use crate::wire::MAX_LIMIT;

/// Parses the query of a page of the history. Also returns the limit.
pub(in crate::service) fn read_changes_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<(ChangeQuery, u64), ApiError> {
    let values = QueryValues::read(query, known)?;
    let limit = values.number("limit", MAX_LIMIT)?.unwrap_or(DEFAULT_LIMIT);
    let query = ChangeQuery {
        after: position(&values, "after")?,
        before: position(&values, "before")?,
        since: parsed(&values, "since")?,
        until: parsed(&values, "until")?,
        entity: values.value("entity")?,
        id: values.value("id")?,
        network_id: values.value("network_id")?,
        actor: parsed(&values, "actor")?,
        action: values.value("action")?,
        order_direction: values.value("order_direction")?.unwrap_or_default(),
        limit: usize::try_from(limit).ok(),
    };
    Ok((query, limit.into()))
}

/// Parses the query of the stream of the history: the position to go on from.
pub(in crate::service) fn read_changes_stream_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<ChangePosition>, ApiError> {
    position(&QueryValues::read(query, known)?, "after")
}

/// Parses the query of a record that can be read as of a moment.
pub(in crate::service) fn read_at(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<Option<Moment>, ApiError> {
    parsed(&QueryValues::read(query, known)?, "at")
}

/// Parses the query of a deletion: whether the history of the record is erased, too.
pub(in crate::service) fn read_erase(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<bool, ApiError> {
    QueryValues::read(query, known)?.flag("erase")
}

/// Only the inventory knows whether a text is a position.
fn position(values: &QueryValues<'_>, field: &str) -> Result<Option<ChangePosition>, ApiError> {
    Ok(values.text(field)?.map(ChangePosition::new))
}

/// Parses a text whose length is limited.
pub(super) fn parsed<T: FromStr>(values: &QueryValues<'_>, field: &str) -> Result<Option<T>, ApiError> {
    let text = values.text(field)?;
    text.map(|text| with_sign(text).parse().map_err(|_| values.not_of_form(field))).transpose()
}
