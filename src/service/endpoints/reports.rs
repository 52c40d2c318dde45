//! The endpoints by which reports become hosts.

use serde_json::{Value, json};

use super::hosts::check_precondition;
use crate::discovery::{Format, ParseError, ParseErrorKind, ParseOptions, Report, ReporterId, parse};
use crate::inventory::{
    DiscoverOptions, DiscoveryOutcome, DiscoveryReport, Entity, Error, HostSplit, Problem,
};
use crate::model::{Host, HostId, NetworkId};
use crate::service::input::{
    Fields, ReportQuery, read_claims_query, read_id, read_no_query, read_report_query,
};
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::Sender;
use crate::wire::ErrorCode;

/// The maximum number of concurrent imports of reports, per user or daemon key and in total. Each holds its body in
/// memory.
pub(in crate::service) const MAX_REPORTS: (usize, usize) = (2, 8);

/// Maximum number of bytes of reports that are imported at the same time. The limits are per user or daemon key and in
/// total, if one report has at most `largest` bytes. Small reports are imported side by side, and the largest one by
/// one.
pub(in crate::service) const fn report_bytes(largest: usize) -> (usize, usize) {
    (largest, largest.saturating_add(largest / 2))
}

/// Maximum number of rows that become parts of one host, of all reports that are merged at the same time. The limits
/// are per user or daemon key and in total. A row takes up to 2.5 KB meanwhile; most reports have few for each of their
/// devices.
pub(in crate::service) const REPORT_ROWS: (usize, usize) = (100_000, 200_000);

/// The size in bytes above which parsing a report is long work, for which no other work should wait.
const LONG_REPORT_BYTES: usize = 1024 * 1024;

/// The media types of reports. The query determines the format, whatever the type.
pub(in crate::service) const MEDIA_TYPES: &[&str] = &[
    "application/json",
    "application/octet-stream",
    "application/xml",
    "text/csv",
    "text/plain",
    "text/xml",
];

fn options_of(query: &ReportQuery, network: NetworkId) -> DiscoverOptions {
    let mut options = DiscoverOptions::new(network);
    options.create_neighbors = query.create_neighbors;
    options.dry_run = query.dry_run;
    options
}

/// `POST /api/v1/discovery/import`.
pub(in crate::service) fn import_report(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let state = call.state;
        let query = read_report_query(call.input.query(), &call.route.query)?;
        let (organization, network) = match call.sender()? {
            Sender::Caller(caller) => {
                let network =
                    query.network_id.ok_or_else(|| Error::invalid("network_id", Problem::Required))?;
                (caller.organization_id(), network)
            }
            Sender::Daemon(daemon) => (daemon.organization_id, query.network_id.unwrap_or(daemon.network_id)),
        };
        let holder = call.sender()?.holder();
        state.report_slots.check(holder)?;
        let body = call.input.bytes(MEDIA_TYPES).await?;
        let _slot = state.report_slots.reserve(holder, 1)?;
        let _bytes = state.report_bytes.reserve(holder, body.len().max(1))?;
        // Authenticated again: a large body takes a while to arrive.
        let sender = state.credentials.identify(call.route.access, call.input.request).await?;
        call.route.access.check(&sender)?;

        let mut options = ParseOptions::new(state.inventory.now());
        options.reporter = query.reporter.as_deref().map(ReporterId::from);
        options.complete = query.complete;
        let format = match query.format {
            // The error for a body that is not recognized is that of the parser.
            Format::Auto => Format::detect(&body).unwrap_or(Format::Auto),
            format => format,
        };
        let size = body.len();
        let parsed = move || parse(format, body.as_slice(), &options);
        let report = if size > LONG_REPORT_BYTES {
            state.inventory.offload_long(organization, parsed).await?
        } else {
            // Never in place: parsing takes longer than other work on as many bytes.
            state.inventory.offload(organization, LONG_REPORT_BYTES, parsed).await?
        };
        let report = report.map_err(|error| unparsable(format, &error))?;
        let _rows = state.report_rows.reserve(holder, report.rows_of_largest_device().max(1))?;
        let options = options_of(&query, network);
        let is_observer = format != Format::Report && is_only_observer(&report);
        let answer = match &sender {
            Sender::Caller(caller) => state.inventory.discover_owned(caller, report, options).await?,
            Sender::Daemon(daemon) => {
                state.inventory.discover_owned_as_daemon(daemon, report, options).await?
            }
        };
        if is_observer {
            refuse_unknown_reporter(&answer)?;
        }
        state.responder.value(&answer)
    })
}

/// Returns whether the report has a single device, and describes others only.
fn is_only_observer(report: &Report) -> bool {
    matches!(report.devices.as_slice(), [device] if device.is_only_observer())
}

/// Refuses a body that describes only devices other than the reporter of the query, if the reporter is no host. Nothing
/// is stored.
fn refuse_unknown_reporter(answer: &DiscoveryReport) -> Result<(), ApiError> {
    let [host] = answer.hosts.as_slice() else { return Ok(()) };
    if host.outcome != DiscoveryOutcome::Ignored {
        return Ok(());
    }
    let message = host.reason.clone().unwrap_or_default();
    let params = json!({"entity": Entity::Host.as_str(), "field": "reporter"});
    Err(ApiError::new(ErrorCode::EntityReferenceInvalid, message, params))
}

/// Returns the error for a body that cannot be parsed.
fn unparsable(format: Format, error: &ParseError) -> ApiError {
    if matches!(error.kind(), ParseErrorKind::ReporterRequired) {
        let message = format!(
            "The body ({format}) does not name the device that it comes from. Set the parameter `reporter` to the id of the \
             host or to its sysName."
        );
        return ApiError::new(ErrorCode::ValidationRequired, message, json!({"field": "reporter"}));
    }
    let place: (&str, u64) = error.line().map_or(("byte", error.byte()), |line| ("line", line));
    let mut params = json!({"field": "body", "format": format.as_str()});
    if let Value::Object(params) = &mut params {
        params.insert(place.0.to_owned(), place.1.into());
    }
    let message = match error.kind() {
        kind @ ParseErrorKind::FormatUnknown => format!("The body cannot be read: {kind}."),
        _ => format!("The body cannot be read as {format}: {error}."),
    };
    ApiError::new(ErrorCode::ValidationInvalidFormat, message, params)
}

/// `GET /api/v1/hosts/{id}/claims`.
pub(in crate::service) fn list_claims(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, id) = (call.state, read_id(&call.path)?);
        let kind = read_claims_query(call.input.query(), &call.route.query)?;
        let caller = call.into_caller()?;
        state.responder.value(&state.inventory.discovery().claims(&caller, id, kind).await?)
    })
}

/// `POST /api/v1/hosts/{id}/split`.
pub(in crate::service) fn split_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let split = read_split(&Fields::read(&body, call.route.body)?)?;
        let request = call.input.request;
        let room = call.input.room;
        let check = |host: &Host| {
            check_precondition(request, Entity::Host, id, host)?;
            // The new host has no more than this one.
            room.answer().reserve_record(host)
        };
        let host = call.state.inventory.discovery().split(&caller, id, &split, check).await?;
        let tag = EntityTag::of_record(&host)?;
        call.state.responder.record(&host, tag)?.with_location(call.route, host.id)
    })
}

fn read_split(fields: &Fields<'_>) -> Result<HostSplit, Error> {
    Ok(HostSplit {
        name: fields.optional("name")?,
        hostname: fields.optional("hostname")?,
        sys_name: fields.optional("sys_name")?,
        sys_descr: fields.optional("sys_descr")?,
        sys_object_id: fields.optional("sys_object_id")?,
        sys_location: fields.optional("sys_location")?,
        sys_contact: fields.optional("sys_contact")?,
        chassis_id: fields.optional("chassis_id")?,
        manufacturer: fields.optional("manufacturer")?,
        model: fields.optional("model")?,
        serial_number: fields.optional("serial_number")?,
        management_url: fields.optional("management_url")?,
        interfaces: fields.optional("interfaces")?.unwrap_or_default(),
        ports: fields.optional("ports")?.unwrap_or_default(),
        services: fields.optional("services")?.unwrap_or_default(),
        if_entries: fields.optional("if_entries")?.unwrap_or_default(),
    })
}

/// `POST /api/v1/hosts/delete-stale`.
pub(in crate::service) fn delete_stale(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let deleted =
            call.state.inventory.discovery().delete_stale(&caller, fields.required("network_id")?).await?;
        call.state.responder.value(&deleted)
    })
}

/// `POST /api/v1/hosts/{id}/consolidate/{other}`.
pub(in crate::service) fn consolidate_hosts(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (state, id) = (call.state, read_id(&call.path)?);
        let other = call.path.get("other").and_then(|other| other.parse::<HostId>().ok());
        let other = other.ok_or_else(|| Error::invalid("other", Problem::InvalidFormat))?;
        read_no_query(&call.input)?;
        let (request, room) = (call.input.request, call.input.room);
        let caller = call.into_caller()?;
        let mut bytes = 0_usize;
        for id in [id, other] {
            // Without them, there is nothing to consolidate.
            if let Ok(document) = state.inventory.hosts().document(&caller, id).await {
                bytes = bytes.saturating_add(document.len());
            }
        }
        room.answer().reserve(bytes)?;
        let check = |host: &Host| check_precondition(request, Entity::Host, id, host);
        let host = state.inventory.discovery().consolidate_if(&caller, id, other, check).await?;
        let tag = EntityTag::of_record(&host)?;
        state.responder.record(&host, tag)
    })
}
