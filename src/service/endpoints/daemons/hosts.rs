//! Hosts that daemons report.

use serde_json::{Map, Value};

use super::dialect::{Dialect, GivenHost};
use super::note_contact;
use crate::access::DaemonCaller;
use crate::inventory::{Error, ErrorKind, parse_host};
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
        let host = reported_host(&daemon, dialect, given)?;
        let inventory = &call.state.inventory;
        note_contact(inventory, &daemon, call.input.request).await?;
        let host = inventory.daemons().report_host(&daemon, host, inventory.now()).await?;
        let tag = EntityTag::of_record(&host)?;
        call.state.responder.record(&dialect.host(&host)?, tag)
    })
}

fn reported_host(daemon: &DaemonCaller, dialect: Dialect, given: GivenHost) -> Result<Host, Error> {
    let translated = dialect.read_host(given, daemon.network_id);
    let text = serde_json::to_vec(&translated.host).map_err(Error::internal)?;
    let host = parse_host(&text)
        .map_err(|error| within_host(error, |list| translated.name_of(list).map(str::to_owned)))?;
    if translated.without_index + translated.further_neighbors > 0 {
        tracing::info!(
            host = %host.id,
            rows_without_index = translated.without_index,
            further_neighbors = translated.further_neighbors,
            "parts of a reported host were left out"
        );
    }
    Ok(host)
}

/// Prefixes the field of an error with `host`. Fields of the lists beside the host have the names that the daemon uses.
fn within_host(error: Error, name_of: impl Fn(&str) -> Option<String>) -> Error {
    match error.kind() {
        ErrorKind::Invalid { field, problem } => {
            let (first, rest) =
                field.split_once('.').map_or((field.as_str(), ""), |(first, rest)| (first, rest));
            let field = match (first, name_of(first)) {
                ("", _) => "host".to_owned(),
                (_, Some(name)) if rest.is_empty() => name,
                (_, Some(name)) => format!("{name}.{rest}"),
                _ => format!("host.{field}"),
            };
            Error::invalid(field, problem.clone())
        }
        _ => error,
    }
}
