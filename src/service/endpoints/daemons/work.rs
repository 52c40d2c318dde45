//! The work that daemons ask for.

use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::{dialect_of, subnets, unknown_daemon};
use crate::inventory::{DaemonStatus, Work};
use crate::model::{Discovery, DiscoveryDaemon, DiscoveryType, Secret, SnmpCredentials};
use crate::service::input::{Fields, read_id};
use crate::service::routes::route::{Call, Pending};
use crate::wire::daemon::{DaemonWork, DiscoverySession, HostNaming, ScanSettings, SessionType};

/// `POST /api/daemons/{id}/request-work`.
pub(in crate::service) fn request_work(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, daemon) = call.read_as_daemon().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let inventory = &call.state.inventory;
        let version: Option<String> = fields.optional("version")?;
        let dialect = dialect_of(&call.input.request.headers, version.as_deref(), &body);
        let interfaced = match fields.optional::<Vec<Value>>("interfaced_subnets")? {
            Some(given) => Some(subnets::store_all(inventory, &daemon, dialect, given).await?),
            None => None,
        };
        let status = DaemonStatus {
            version,
            is_ready: fields.optional("ready_for_work")?,
            has_docker_socket: fields.optional("has_docker_socket")?,
            interfaced_subnet_ids: interfaced,
        };
        let work = inventory.daemons().request_work(&daemon, id, status).await;
        let Work { daemon, discovery, credentials, is_cancelled } =
            work.map_err(|error| unknown_daemon(error, dialect.unknown_daemon()))?;
        let stated = daemon.version.as_deref();
        let dialect = dialect.or_version(&call.input.request.headers, stated);
        let credentials = credentials.as_deref().cloned().unwrap_or_default();
        let session = discovery.map(|discovery| session(dialect, &daemon, discovery, credentials));
        call.state.responder.value(&dialect.value(&DaemonWork(session, is_cancelled))?)
    })
}

/// Returns a session as its daemon receives it.
fn session(
    dialect: Dialect,
    daemon: &DiscoveryDaemon,
    discovery: Discovery,
    credentials: SnmpCredentials,
) -> DiscoverySession {
    let is_unified = dialect.is_unified();
    let (mappings, credentials) = if is_unified {
        (Some(mappings_of(&credentials)), SnmpCredentials::default())
    } else {
        (None, credentials)
    };
    let discovery_id = is_unified.then_some(discovery.id);
    let (id, network_id, phase, progress) =
        (discovery.id, discovery.network_id, discovery.phase, discovery.progress);
    DiscoverySession {
        daemon_id: daemon.id,
        discovery_type: if is_unified {
            unified(daemon, discovery)
        } else {
            separate(daemon, discovery, credentials)
        },
        error: None,
        finished_at: None,
        network_id,
        phase,
        progress,
        session_id: id,
        started_at: None,
        discovery_id,
        credential_mappings: mappings,
    }
}

/// Returns the type of work of a daemon that reports its host, scans, and lists containers separately.
fn separate(
    daemon: &DiscoveryDaemon,
    discovery: Discovery,
    snmp_credentials: SnmpCredentials,
) -> SessionType {
    let (host_id, host_naming_fallback) = (daemon.host_id, HostNaming::default());
    match discovery.discovery_type {
        DiscoveryType::SelfReport => SessionType::SelfReport { host_id },
        DiscoveryType::Docker => SessionType::Docker { host_id, host_naming_fallback },
        DiscoveryType::Network | DiscoveryType::Unified => SessionType::Network {
            host_naming_fallback,
            probe_raw_socket_ports: false,
            snmp_credentials,
            subnet_ids: discovery.subnet_ids,
        },
    }
}

/// Returns the type of work of a daemon that does all of its work as one.
fn unified(daemon: &DiscoveryDaemon, discovery: Discovery) -> SessionType {
    // The daemon always reports its own host: without subnets, only that.
    let is_about_own_host = discovery.discovery_type.is_about_own_host();
    SessionType::Unified {
        host_id: daemon.host_id,
        host_naming_fallback: HostNaming::default(),
        scan_local_docker_socket: daemon.capabilities.has_docker_socket
            || discovery.discovery_type == DiscoveryType::Docker,
        scan_settings: ScanSettings::default(),
        subnet_ids: if is_about_own_host { Some(Vec::new()) } else { discovery.subnet_ids },
    }
}

/// Returns credentials in the form of daemons that know credentials of several types. There is one mapping or none.
fn mappings_of(credentials: &SnmpCredentials) -> Vec<SnmpCredentials> {
    if credentials.is_empty() {
        return Vec::new();
    }
    let mut mapping = credentials.clone();
    mapping.default_credential =
        mapping.default_credential.map(|secret| typed(secret.expose().clone()).into());
    let overrides = mapping.ip_overrides.iter().map(|secret| {
        let mut given = secret.expose().clone();
        if let Some(Value::Object(credential)) = given.remove("credential") {
            given.insert("credential".to_owned(), typed(credential).into());
        }
        Secret::from(given)
    });
    mapping.ip_overrides = overrides.collect();
    vec![mapping]
}

/// Adds the type, and the community, which version 3 does not use but which these daemons require.
fn typed(mut credential: Map<String, Value>) -> Map<String, Value> {
    credential.insert("type".to_owned(), "Snmp".into());
    credential.entry("community").or_insert_with(|| "".into());
    credential
}
