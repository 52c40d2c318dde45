//! Hosts that daemons report.

use serde_json::{Map, Value};

use super::dialect::{Dialect, GivenHost, ListNames};
use super::note_contact;
use crate::access::DaemonCaller;
use crate::inventory::{Error, ErrorKind, Problem, parse_host};
use crate::model::Host;
use crate::service::input::Fields;
use crate::service::response::entity_tag::EntityTag;
use crate::service::routes::route::{Call, Pending};

/// `POST /api/v1/hosts/discovery`.
pub(in crate::service) fn report_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let host: Map<String, Value> = fields.required("host")?;
        let is_with_text = host.get("chassis_id").is_some_and(Value::is_string);
        let ip_addresses: Option<Value> = fields.optional("ip_addresses")?;
        let mut dialect = Dialect::of(&call.input.request.headers);
        if is_with_text || ip_addresses.is_some() {
            dialect = dialect.with_lists(ip_addresses.is_some());
        }
        let given = GivenHost {
            ip_addresses,
            interfaces: fields.optional("interfaces")?,
            if_entries: fields.optional("if_entries")?,
            ports: fields.optional("ports")?,
            services: fields.optional("services")?,
            host,
        };
        let dialect = if given.host.contains_key("site_id") { dialect.with_sites() } else { dialect };
        let (host, names) = reported_host(&daemon, dialect, given)?;
        let inventory = &call.state.inventory;
        note_contact(inventory, &daemon, call.input.request).await?;
        let stored = inventory.daemons().report_host(&daemon, host, inventory.now()).await;
        let mut host = stored.map_err(|error| within_host(error, names))?;
        let tag = EntityTag::of_record(&host)?;
        // Daemons do not set custom fields, and do not receive those that users have set.
        host.custom.clear();
        call.state.responder.record(&dialect.host(&host)?, tag)
    })
}

/// Reads a reported host. Also returns the names of the lists beside it.
fn reported_host(
    daemon: &DaemonCaller,
    dialect: Dialect,
    given: GivenHost,
) -> Result<(Host, ListNames), Error> {
    let translated = dialect.read_host(given, daemon.network_id);
    let text = serde_json::to_vec(&translated.host).map_err(Error::internal)?;
    let host = parse_host(&text).map_err(|error| within_host(error, translated.names))?;
    if translated.without_index + translated.further_neighbors > 0 {
        tracing::info!(
            host = %host.id,
            rows_without_index = translated.without_index,
            further_neighbors = translated.further_neighbors,
            "parts of a reported host were left out"
        );
    }
    Ok((host, translated.names))
}

/// Names the place of an error in the request: within `host`, or within a list beside it.
fn within_host(error: Error, names: ListNames) -> Error {
    match error.kind() {
        // The report as a whole is not supported.
        ErrorKind::Invalid { problem: Problem::Unsupported, .. } => error,
        ErrorKind::Invalid { field, problem } => Error::invalid(path(field, names), problem.clone()),
        ErrorKind::ReferenceInvalid { entity, field } => {
            ErrorKind::ReferenceInvalid { entity: *entity, field: path(field, names) }.into()
        }
        ErrorKind::Refused { field: Some(field), .. } => {
            let path = path(field, names);
            error.at(path)
        }
        _ => error,
    }
}

/// Returns the path of a field in the request. The lists beside the host have the names that the daemon uses.
fn path(field: &str, names: ListNames) -> String {
    let (first, rest) = field.split_once('.').unwrap_or((field, ""));
    match (first, names.name_of(first)) {
        ("", _) => "host".to_owned(),
        (_, Some(name)) if rest.is_empty() => name.to_owned(),
        (_, Some(name)) => format!("{name}.{rest}"),
        _ => format!("host.{field}"),
    }
}
