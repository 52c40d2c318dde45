//! The endpoints that discovery daemons call.

mod dialect;
mod hosts;
mod subnets;
mod work;

use http::request::Parts;
use http::{HeaderMap, HeaderName};
use serde::Deserialize;
use serde_json::{Value, json};

use self::dialect::{Dialect, mode_named};
pub(in crate::service) use self::hosts::report_host;
pub(in crate::service) use self::subnets::{create_subnet, list_subnets, report_vlans};
pub(in crate::service) use self::work::request_work;
use crate::access::DaemonCaller;
use crate::inventory::{DiscoveryUpdate, Entity, Error, ErrorKind, Inventory, NewDaemon, Problem};
use crate::model::{DaemonCapabilities, DiscoveryDaemon, DiscoveryId, DiscoveryPhase, SubnetId};
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::error::ApiError;
use crate::service::response::{Outcome, Responder};
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::Sender;
use crate::wire::ErrorCode;
use crate::wire::daemon::{DaemonRegistration, ServerCapabilities};

/// The oldest version of daemons whose requests these endpoints understand.
const MINIMUM_DAEMON_VERSION: &str = "0.13.0";

/// The header in which a daemon names itself.
const DAEMON_ID: HeaderName = HeaderName::from_static("x-daemon-id");

/// `POST /api/daemons/register`.
pub(in crate::service) fn register(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let name: String = fields.required("name")?;
        let mut new = NewDaemon::new(fields.required("daemon_id")?, name);
        let mode: Option<String> = fields.optional("mode")?;
        new.mode = mode.and_then(|mode| mode_named(&mode)).unwrap_or_default();
        new.version = fields.optional("version")?;
        new.capabilities = capabilities(fields.optional("capabilities")?.unwrap_or_default());
        let dialect = dialect_of(&call.input.request.headers, new.version.as_deref(), &body);
        new.is_unified = dialect.is_unified();
        let daemon = call.state.inventory.daemons().register(&daemon, new).await?;
        let responder = &call.state.responder;
        let (host_id, server_capabilities) = (daemon.host_id, server_capabilities(responder));
        let daemon = DiscoveryDaemon { api_key_id: None, ..daemon };
        let answer = DaemonRegistration { daemon, host_id, server_capabilities };
        responder.value(&dialect.value(&answer)?)
    })
}

/// Determines the form of a request and of its answer by its headers and its body.
fn dialect_of(headers: &HeaderMap, version: Option<&str>, body: &[u8]) -> Dialect {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    Dialect::of(headers).or_version(headers, version).with_names_of(&body)
}

/// The capabilities of a daemon as it reports them. Newer daemons leave some out.
#[derive(Default, Deserialize)]
struct GivenCapabilities {
    has_docker_socket: Option<bool>,
    interfaced_subnet_ids: Option<Vec<SubnetId>>,
}

fn capabilities(given: GivenCapabilities) -> DaemonCapabilities {
    DaemonCapabilities {
        has_docker_socket: given.has_docker_socket.unwrap_or_default(),
        interfaced_subnet_ids: given.interfaced_subnet_ids.unwrap_or_default(),
    }
}

/// `POST /api/daemons/{id}/startup`.
pub(in crate::service) fn announce_startup(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let version: String = Fields::read(&body, call.route.body)?.required("daemon_version")?;
        let announced = call.state.inventory.daemons().announce(&daemon, id, &version).await;
        announced.map_err(|error| unknown_daemon(error, ErrorCode::EntityNotFound))?;
        call.state.responder.value(&server_capabilities(&call.state.responder))
    })
}

fn server_capabilities(responder: &Responder) -> ServerCapabilities {
    ServerCapabilities {
        minimum_daemon_version: MINIMUM_DAEMON_VERSION.to_owned(),
        server_version: responder.server_version().to_owned(),
    }
}

/// `POST /api/daemons/{id}/heartbeat`, of daemons older than 0.14.
pub(in crate::service) fn note_heartbeat(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        Fields::read(&body, call.route.body)?;
        let noted = call.state.inventory.note_heartbeat(&daemon, id).await;
        noted.map_err(|error| unknown_daemon(error, ErrorCode::EntityNotFound))?;
        call.state.responder.null()
    })
}

/// Returns the error for a daemon that is not registered, as daemons recognize it.
///
/// At startup, daemons register after `entity_not_found`; versions older than 0.14 after a sentence that contains this
/// one.
fn unknown_daemon(error: Error, code: ErrorCode) -> ApiError {
    let ErrorKind::NotFound { entity: Entity::Daemon, id } = error.kind() else { return error.into() };
    let message = format!("Daemon '{id}' not found. It has to register.");
    ApiError::new(code, message, json!({"entity": Entity::Daemon.as_str(), "id": id}))
}

/// `POST /api/daemons/{id}/update-capabilities`.
pub(in crate::service) fn update_capabilities(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let capabilities = capabilities(GivenCapabilities {
            has_docker_socket: fields.optional("has_docker_socket")?,
            interfaced_subnet_ids: fields.optional("interfaced_subnet_ids")?,
        });
        call.state.inventory.daemons().update_capabilities(&daemon, id, capabilities).await?;
        call.state.responder.null()
    })
}

/// `POST /api/v1/discovery/{id}/update`. The session is the one that the body names.
pub(in crate::service) fn report_progress(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_id::<DiscoveryId>(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (session, of) = (fields.required("session_id")?, fields.required("daemon_id")?);
        let progress = fields.optional("progress")?.unwrap_or_default();
        let phase: String = fields.required("phase")?;
        let mut update = DiscoveryUpdate::new(session, of, phase_named(&phase)?, progress);
        update.error = fields.optional("error")?;
        update.started_at = fields.optional("started_at")?;
        update.finished_at = fields.optional("finished_at")?;
        call.state.inventory.daemons().update_job(&daemon, update).await?;
        call.state.responder.null()
    })
}

/// The phases of jobs that the daemon has not begun, by names that only newer daemons know.
const QUEUED_PHASES: [&str; 2] = ["Queued", "AwaitingSnapshot"];

fn phase_named(name: &str) -> Result<DiscoveryPhase, Error> {
    if QUEUED_PHASES.contains(&name) {
        return Ok(DiscoveryPhase::Pending);
    }
    let phase = DiscoveryPhase::deserialize(Value::from(name));
    phase.map_err(|_| Error::invalid("phase", Problem::InvalidFormat))
}

impl Call<'_> {
    /// Reads the body of a daemon's request. The query must be empty.
    ///
    /// Also returns the daemon, authenticated again, like [`read`](Self::read).
    async fn read_as_daemon(&mut self) -> Result<(Vec<u8>, DaemonCaller), ApiError> {
        read_no_query(&self.input)?;
        let body = self.read_json().await?;
        match self.state.credentials.identify(self.route.access, self.input.request).await? {
            Sender::Daemon(daemon) => Ok((body, daemon)),
            Sender::Caller(_) => Err(Error::from(ErrorKind::NotAuthenticated).into()),
        }
    }
}

/// Records a contact of the daemon that a header of the request names.
async fn note_contact(inventory: &Inventory, daemon: &DaemonCaller, request: &Parts) -> Result<(), Error> {
    let id = request.headers.get(&DAEMON_ID).and_then(|id| id.to_str().ok()?.parse().ok());
    match id {
        Some(id) => inventory.note_daemon_report(daemon, id).await,
        None => Ok(()),
    }
}

impl Responder {
    /// Encodes the envelope of a success without data, as daemons expect it.
    fn null(&self) -> Result<Outcome, ApiError> {
        self.value(&())
    }
}
