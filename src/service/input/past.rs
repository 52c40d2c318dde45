//! Queries of diffs and summaries of changes.

use super::history::parsed;
use super::query_values::{KnownParameters, QueryValues};
use crate::inventory::{DiffQuery, Error, Problem, SummaryQuery};
use crate::service::response::error::ApiError;

/// Parses the query of a diff.
pub(in crate::service) fn read_diff_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<DiffQuery, ApiError> {
    let values = QueryValues::read(query, known)?;
    let from = parsed(&values, "from")?.ok_or_else(|| Error::invalid("from", Problem::Required))?;
    let mut diff = DiffQuery::new(from);
    (diff.to, diff.network_id) = (parsed(&values, "to")?, values.value("network_id")?);
    Ok(diff)
}

/// Parses the query of a summary of changes.
pub(in crate::service) fn read_summary_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<SummaryQuery, ApiError> {
    let values = QueryValues::read(query, known)?;
    let mut summary = SummaryQuery::default();
    (summary.since, summary.until) = (parsed(&values, "since")?, parsed(&values, "until")?);
    summary.network_id = values.value("network_id")?;
    Ok(summary)
}
