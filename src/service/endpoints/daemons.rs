//! The endpoints that discovery daemons call.

use http::HeaderName;
use http::request::Parts;
use serde::Deserialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::collections;
use crate::access::DaemonCaller;
use crate::inventory::{
    DaemonStatus, DiscoveryUpdate, Error, ErrorKind, Inventory, NewDaemon, Problem, Work, parse_host,
};
use crate::model::{Cidr, DaemonCapabilities, Discovery, DiscoveryDaemon, DiscoveryType, Host, Subnet};
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::response::{Outcome, Responder};
use crate::service::routes::groups::REPORTED_SUBNET;
use crate::service::routes::route::{Call, Pending};
use crate::service::sender::Sender;
use crate::service::sender::credentials::identify;
use crate::wire::daemon::{
    DaemonRegistration, DaemonWork, DiscoverySession, HostNaming, ServerCapabilities, SessionType,
    SnmpCredentials,
};

/// The oldest version of daemons whose requests these endpoints understand.
const MINIMUM_DAEMON_VERSION: &str = "0.14.0";

const DAEMON_ID: HeaderName = HeaderName::from_static("x-daemon-id");

/// `POST /api/daemons/register`.
pub(in crate::service) fn register(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let name: String = fields.required("name")?;
        let mut new = NewDaemon::new(fields.required("daemon_id")?, name);
        new.mode = fields.optional("mode")?.unwrap_or_default();
        new.version = fields.optional("version")?;
        new.capabilities = fields.optional("capabilities")?.unwrap_or_default();
        let daemon = call.state.inventory.register_daemon(&daemon, new).await?;
        let responder = &call.state.responder;
        let (host_id, server_capabilities) = (daemon.host_id, server_capabilities(responder));
        let daemon = DiscoveryDaemon { api_key_id: None, ..daemon };
        responder.value(&DaemonRegistration { daemon, host_id, server_capabilities })
    })
}

/// `POST /api/daemons/{id}/startup`.
pub(in crate::service) fn announce_startup(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let version: String = Fields::read(&body, call.route.body)?.required("daemon_version")?;
        call.state.inventory.announce_daemon(&daemon, id, &version).await?;
        call.state.responder.value(&server_capabilities(&call.state.responder))
    })
}

fn server_capabilities(responder: &Responder) -> ServerCapabilities {
    ServerCapabilities {
        minimum_daemon_version: MINIMUM_DAEMON_VERSION.to_owned(),
        server_version: responder.server_version().to_owned(),
    }
}

/// `POST /api/daemons/{id}/request-work`.
pub(in crate::service) fn request_work(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (version, is_ready) = (fields.optional("version")?, fields.optional("ready_for_work")?);
        let status = DaemonStatus { version, is_ready };
        let Work { daemon, discovery, is_cancelled } =
            call.state.inventory.request_work(&daemon, id, status).await?;
        let session = discovery.map(|discovery| session(&daemon, discovery));
        call.state.responder.value(&DaemonWork(session, is_cancelled))
    })
}

/// Returns a session as its daemon receives it.
fn session(daemon: &DiscoveryDaemon, discovery: Discovery) -> DiscoverySession {
    let (host_id, host_naming_fallback) = (daemon.host_id, HostNaming::default());
    let discovery_type = match discovery.discovery_type {
        DiscoveryType::SelfReport => SessionType::SelfReport { host_id },
        DiscoveryType::Docker => SessionType::Docker { host_id, host_naming_fallback },
        DiscoveryType::Network => SessionType::Network {
            host_naming_fallback,
            probe_raw_socket_ports: false,
            snmp_credentials: SnmpCredentials::default(),
            subnet_ids: discovery.subnet_ids,
        },
    };
    DiscoverySession {
        daemon_id: daemon.id,
        discovery_type,
        error: discovery.error,
        finished_at: discovery.finished_at,
        network_id: discovery.network_id,
        phase: discovery.phase,
        progress: discovery.progress,
        session_id: discovery.id,
        started_at: discovery.started_at,
    }
}

/// `POST /api/daemons/{id}/update-capabilities`.
pub(in crate::service) fn update_capabilities(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let capabilities = DaemonCapabilities {
            has_docker_socket: fields.optional("has_docker_socket")?.unwrap_or_default(),
            interfaced_subnet_ids: fields.optional("interfaced_subnet_ids")?.unwrap_or_default(),
        };
        call.state.inventory.update_daemon_capabilities(&daemon, id, capabilities).await?;
        call.state.responder.null()
    })
}

/// `POST /api/v1/discovery/{id}/update`. The session is the one that the body names.
pub(in crate::service) fn report_progress(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (session, of) = (fields.required("session_id")?, fields.required("daemon_id")?);
        let progress = fields.optional("progress")?.unwrap_or_default();
        let mut update = DiscoveryUpdate::new(session, of, fields.required("phase")?, progress);
        update.error = fields.optional("error")?;
        update.started_at = fields.optional("started_at")?;
        update.finished_at = fields.optional("finished_at")?;
        call.state.inventory.update_discovery(&daemon, update).await?;
        call.state.responder.null()
    })
}

/// `POST /api/v1/subnets`, by a user or by a daemon.
pub(in crate::service) fn create_subnet(mut call: Call<'_>) -> Pending<'_> {
    if !call.is_by_daemon() {
        return collections::create::<Subnet>(call);
    }
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let mut subnet = Subnet::new(daemon.network_id, "", Cidr::DEFAULT_ROUTE);
        Fields::read(&body, REPORTED_SUBNET)?.apply(&mut subnet)?;
        subnet.id = given_id(&body)?;
        let inventory = &call.state.inventory;
        note_contact(inventory, &daemon, call.input.request).await?;
        let subnet = inventory.discover_subnet_as_daemon(&daemon, subnet).await?;
        let tag = EntityTag::of_record(&subnet)?;
        call.state.responder.record(&subnet, tag)
    })
}

/// Returns the id that the body proposes; nil if it proposes none.
fn given_id(body: &[u8]) -> Result<Uuid, Error> {
    #[derive(Deserialize)]
    struct Given {
        id: Option<Uuid>,
    }
    let given: Given =
        serde_json::from_slice(body).map_err(|_| Error::invalid("id", Problem::InvalidFormat))?;
    Ok(given.id.unwrap_or_default())
}

/// `POST /api/v1/hosts/discovery`.
pub(in crate::service) fn report_host(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, daemon) = call.read_as_daemon().await?;
        let host = reported_host(&daemon, &Fields::read(&body, call.route.body)?)?;
        let inventory = &call.state.inventory;
        note_contact(inventory, &daemon, call.input.request).await?;
        let host = inventory.discover_host_as_daemon(&daemon, host, inventory.now()).await?;
        let tag = EntityTag::of_record(&host)?;
        call.state.responder.record(&host, tag)
    })
}

/// The lists of a reported host, which stand beside it.
const LISTS: [&str; 4] = ["interfaces", "ports", "services", "if_entries"];

fn reported_host(daemon: &DaemonCaller, fields: &Fields<'_>) -> Result<Host, Error> {
    let mut host: Map<String, Value> = fields.required("host")?;
    for list in LISTS {
        match fields.optional::<Value>(list)? {
            Some(parts) => host.insert(list.to_owned(), parts),
            None => host.remove(list),
        };
    }
    host.insert("network_id".to_owned(), daemon.network_id.to_string().into());
    let text = serde_json::to_vec(&host).map_err(Error::internal)?;
    parse_host(&text).map_err(within_host)
}

/// Prefixes the field of an error with `host`. Fields of the lists beside the host keep their names.
fn within_host(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Invalid { field, problem } => {
            let first = field.split('.').next().unwrap_or_default();
            let field = match first {
                "" => "host".to_owned(),
                first if LISTS.contains(&first) => field.clone(),
                _ => format!("host.{field}"),
            };
            Error::invalid(field, problem.clone())
        }
        _ => error,
    }
}

impl Call<'_> {
    /// Reads the body of a daemon's request. The query must be empty.
    ///
    /// Also returns the daemon, authenticated again, like [`read`](Self::read).
    async fn read_as_daemon(&mut self) -> Result<(Vec<u8>, DaemonCaller), ApiError> {
        read_no_query(&self.input)?;
        let body = self.input.json().await?;
        match identify(&self.state.inventory, self.route.access, self.input.request).await? {
            Sender::Daemon(daemon) => Ok((body, daemon)),
            Sender::Caller(_) => Err(Error::from(ErrorKind::NotAuthenticated).into()),
        }
    }
}

/// Records the contact of the daemon that the request names in a header.
async fn note_contact(inventory: &Inventory, daemon: &DaemonCaller, request: &Parts) -> Result<(), Error> {
    let id = request.headers.get(DAEMON_ID).and_then(|id| id.to_str().ok()?.parse().ok());
    match id {
        Some(id) => inventory.note_daemon_contact(daemon, id).await,
        None => Ok(()),
    }
}

impl Responder {
    /// Encodes the envelope of a success without data, as daemons expect it.
    fn null(&self) -> Result<Outcome, ApiError> {
        self.value(&())
    }
}
