//! The query of an import of a report.

use super::query_values::{KnownParameters, QueryValues};
use crate::discovery::Format;
use crate::inventory::{Error, Problem};
use crate::model::NetworkId;
use crate::service::response::error::ApiError;
use crate::service::routes::parameter::MAX_REPORTER;

/// The query of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::service) struct ReportQuery {
    pub(in crate::service) format: Format,
    /// `None`: the network of the daemon's key.
    pub(in crate::service) network_id: Option<NetworkId>,
    pub(in crate::service) reporter: Option<String>,
    pub(in crate::service) complete: bool,
    pub(in crate::service) create_neighbors: bool,
    pub(in crate::service) dry_run: bool,
}

/// Parses the query of an import of a report.
pub(in crate::service) fn read_report_query(
    query: Option<&str>,
    known: KnownParameters<'_>,
) -> Result<ReportQuery, ApiError> {
    let values = QueryValues::read(query, known)?;
    let reporter = values.text("reporter")?;
    if reporter.is_some_and(|name| name.chars().count() > MAX_REPORTER) {
        return Err(Error::invalid("reporter", Problem::MaxLength { max: MAX_REPORTER }).into());
    }
    Ok(ReportQuery {
        format: values.value("format")?.ok_or_else(|| Error::invalid("format", Problem::Required))?,
        network_id: values.value("network_id")?,
        reporter: reporter.map(str::to_owned),
        complete: values.flag("complete")?,
        create_neighbors: values.flag("create_neighbors")?,
        dry_run: values.flag("dry_run")?,
    })
}
