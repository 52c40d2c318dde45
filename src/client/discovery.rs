//! Discovery: the work that users give to daemons, and the requests of daemons.

use form_urlencoded::Serializer;
use http::HeaderValue;
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::call::ClientCall;
use super::collection::item;
use super::{Client, ClientError, Collection, Download, EntityTag, HttpService, RequestBody, Tagged};
use crate::discovery::report::TableKind;
use crate::discovery::{Claim, Format};
use crate::model::{
    DaemonCapabilities, DaemonId, DaemonMode, Discovery, DiscoveryId, DiscoveryPhase, DiscoveryType, Host,
    HostId, NetworkId, SnmpCredentials, SubnetId, Timestamp,
};
use crate::wire::daemon::{DaemonRegistration, DaemonWork, ServerCapabilities};
use crate::wire::{
    DaemonStatus, DiscoveryReport, DiscoveryUpdate, HostSplit, NewDaemon, NewDiscovery, StaleDeletion,
};

const EVENTS: &str = "text/event-stream";
const BYTES: &str = "application/octet-stream";

/// The lists of a host, which stand beside it in a daemon's report.
const PART_LISTS: [&str; 4] = ["interfaces", "ports", "services", "if_entries"];

/// Options of [`Client::import_report`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReportOptions {
    /// The network of the devices. Default: the network of the daemon's key. The keys of users have no default.
    pub network_id: Option<NetworkId>,
    /// The device that the report comes from, by host id or system name. Used if the report does not name it. For tables
    /// about other devices, such as [`Format::Arp`], it must be a host already.
    pub reporter: Option<String>,
    /// Whether the tables of the report have all rows, in formats that do not state this.
    pub complete: bool,
    /// Whether unknown neighbors become hosts.
    pub create_neighbors: bool,
    /// Returns the same report and stores nothing.
    pub dry_run: bool,
}

impl ReportOptions {
    /// Returns the parameters of the request. No serializer lives while the request waits: the future would not be `Send`.
    fn query(&self, format: Format) -> String {
        let mut query = Serializer::new(String::new());
        query.append_pair("format", format.as_str());
        if let Some(network) = self.network_id {
            query.append_pair("network_id", &network.to_string());
        }
        if let Some(reporter) = &self.reporter {
            query.append_pair("reporter", reporter);
        }
        query.append_pair("complete", &self.complete.to_string());
        query.append_pair("create_neighbors", &self.create_neighbors.to_string());
        query.append_pair("dry_run", &self.dry_run.to_string());
        query.finish()
    }
}

impl<S: HttpService> Client<S> {
    /// Reconciles the output of a scanner or a device with the hosts. The server recognizes [`Format::Auto`].
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService, ReportOptions, RequestBody};
    /// # use toposcope::discovery::Format;
    /// # use toposcope::model::NetworkId;
    /// # async fn example<S: HttpService>(client: Client<S>, network: NetworkId, scan: Vec<u8>) -> Result<(), ClientError> {
    /// let mut options = ReportOptions::default();
    /// options.network_id = Some(network);
    /// let report = client.import_report(Format::Nmap, RequestBody::new(scan), &options).await?;
    /// for host in report.hosts {
    ///     println!("{}: {:?}", host.name, host.outcome);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`: of the network. `validation_invalid_format` for a report that cannot be
    /// read, `validation_required` for one whose device is not named, `entity_reference_invalid` for a table about other
    /// devices whose own device is no host, `rate_limit_exceeded` when too many are being imported.
    pub async fn import_report(
        &self,
        format: Format,
        report: RequestBody,
        options: &ReportOptions,
    ) -> Result<DiscoveryReport, ClientError> {
        let call = ClientCall::post(format!("/api/v1/discovery/import?{}", options.query(format)));
        self.value(call.body(HeaderValue::from_static(BYTES), report)).await
    }

    /// Returns the tables that a host reports: those of one kind, or all.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub async fn claims(&self, host: HostId, kind: Option<TableKind>) -> Result<Vec<Claim>, ClientError> {
        let filter = kind.map(|kind| format!("?kind={}", kind.as_str())).unwrap_or_default();
        self.value(ClientCall::get(format!("{}/claims{filter}", item::<Host>(host)))).await
    }

    /// Merges the host `other` into the host `id`, and deletes `other`. Returns the merged host.
    ///
    /// # Errors
    /// `entity_network_mismatch`, `quota_exceeded`; the errors of [`get`](Self::get).
    pub async fn consolidate_hosts(&self, id: HostId, other: HostId) -> Result<Tagged<Host>, ClientError> {
        self.tagged(ClientCall::post(format!("{}/consolidate/{other}", item::<Host>(id)))).await
    }

    /// Moves parts of a host to a new host. Returns the new host.
    ///
    /// With an `ETag`, the host is only split if it still has that state.
    ///
    /// # Errors
    /// `entity_reference_invalid`, `validation_…`: of the selected parts. `quota_exceeded`, `precondition_failed`;
    /// those of [`get`](Self::get).
    pub async fn split_host(
        &self,
        id: HostId,
        split: &HostSplit,
        if_match: Option<&EntityTag>,
    ) -> Result<Tagged<Host>, ClientError> {
        let call = ClientCall::post(format!("{}/split", item::<Host>(id))).json(split)?;
        self.tagged(call.if_match(if_match)).await
    }

    /// Deletes the stale parts of the hosts of a network. Returns their numbers.
    ///
    /// # Errors
    /// `entity_not_found`, `entity_access_denied`: of the network.
    pub async fn delete_stale_parts(&self, network_id: NetworkId) -> Result<StaleDeletion, ClientError> {
        #[derive(Serialize)]
        struct Body {
            network_id: NetworkId,
        }
        self.value(ClientCall::post(format!("{}/delete-stale", Host::PATH)).json(&Body { network_id })?).await
    }

    /// Queues work for a discovery daemon.
    ///
    /// # Errors
    /// `entity_reference_invalid`, `entity_access_denied`, `quota_exceeded`, `validation_…`.
    pub async fn create_discovery(&self, new: &NewDiscovery) -> Result<Tagged<Discovery>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            network_id: NetworkId,
            daemon_id: Option<DaemonId>,
            r#type: DiscoveryType,
            subnet_ids: Option<&'a [SubnetId]>,
            snmp_credentials: Option<&'a SnmpCredentials>,
        }
        let NewDiscovery { network_id, daemon_id, discovery_type, subnet_ids, snmp_credentials } = new;
        let (network_id, daemon_id, r#type) = (*network_id, *daemon_id, *discovery_type);
        let (subnet_ids, snmp_credentials) = (subnet_ids.as_deref(), snmp_credentials.as_ref());
        let body = Body { network_id, daemon_id, r#type, subnet_ids, snmp_credentials };
        self.tagged(ClientCall::post(Discovery::PATH).json(&body)?).await
    }

    /// Cancels work, unless it has ended.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get).
    pub async fn cancel_discovery(&self, id: DiscoveryId) -> Result<Tagged<Discovery>, ClientError> {
        self.tagged(ClientCall::post(format!("{}/cancel", item::<Discovery>(id)))).await
    }

    /// Streams discoveries and their changes as server-sent events.
    ///
    /// The stream begins with the 200 discoveries that changed last, of all networks or of one. Their changes follow.
    /// The server ends the stream after 15 minutes. The first events of the next one are the present states.
    ///
    /// # Errors
    /// `rate_limit_exceeded` when too many streams are open.
    pub async fn stream_discoveries(&self, network_id: Option<NetworkId>) -> Result<Download, ClientError> {
        let filter = network_id.map(|network| format!("?network_id={network}")).unwrap_or_default();
        let call = ClientCall::get(format!("{}/stream{filter}", Discovery::PATH));
        Ok(self.send_for(call, EVENTS).await?.into_download())
    }

    /// Registers a daemon. Like all requests of daemons, it requires a daemon's API key.
    ///
    /// # Errors
    /// `quota_exceeded`, `validation_…`.
    pub async fn register_daemon(&self, new: &NewDaemon) -> Result<DaemonRegistration, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            daemon_id: DaemonId,
            name: &'a str,
            mode: DaemonMode,
            version: Option<&'a str>,
            capabilities: &'a DaemonCapabilities,
        }
        // The server follows from the version whether the work of the daemon is unified.
        let NewDaemon { id, name, mode, version, capabilities, is_unified: _ } = new;
        let (daemon_id, mode, version) = (*id, *mode, version.as_deref());
        let body = Body { daemon_id, name, mode, version, capabilities };
        self.value(ClientCall::post("/api/daemons/register").json(&body)?).await
    }

    /// Records that a daemon has started.
    ///
    /// # Errors
    /// `entity_not_found` unless this key has registered the daemon.
    pub async fn announce_daemon(
        &self,
        id: DaemonId,
        version: &str,
    ) -> Result<ServerCapabilities, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            daemon_version: &'a str,
        }
        self.value(ClientCall::post(of_daemon(id, "startup")).json(&Body { daemon_version: version })?).await
    }

    /// Returns the next work of a daemon, and whether it must stop its present work.
    ///
    /// The subnets of the status are not sent. [`update_daemon_capabilities`](Self::update_daemon_capabilities) sends them.
    ///
    /// # Errors
    /// `entity_not_found`, or `daemon_not_registered` for versions since 0.15, unless this key has registered the daemon.
    pub async fn request_work(&self, id: DaemonId, status: &DaemonStatus) -> Result<DaemonWork, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            version: Option<&'a str>,
            ready_for_work: Option<bool>,
            has_docker_socket: Option<bool>,
        }
        let DaemonStatus { version, is_ready, has_docker_socket, interfaced_subnet_ids: _ } = status;
        let (version, has_docker_socket) = (version.as_deref(), *has_docker_socket);
        let body = Body { version, ready_for_work: *is_ready, has_docker_socket };
        self.value(ClientCall::post(of_daemon(id, "request-work")).json(&body)?).await
    }

    /// Replaces the capabilities of a daemon.
    ///
    /// # Errors
    /// `entity_not_found` unless this key has registered the daemon.
    pub async fn update_daemon_capabilities(
        &self,
        id: DaemonId,
        capabilities: &DaemonCapabilities,
    ) -> Result<(), ClientError> {
        let call = ClientCall::post(of_daemon(id, "update-capabilities")).json(capabilities)?;
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Reports the progress of a session. The server ignores sessions that the daemon does not have.
    ///
    /// # Errors
    /// `validation_…`.
    pub async fn report_progress(&self, update: &DiscoveryUpdate) -> Result<(), ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            session_id: DiscoveryId,
            daemon_id: DaemonId,
            phase: DiscoveryPhase,
            progress: u8,
            error: Option<&'a str>,
            started_at: Option<Timestamp>,
            finished_at: Option<Timestamp>,
        }
        let DiscoveryUpdate { session_id, daemon_id, phase, progress, error, started_at, finished_at } =
            update;
        let body = Body {
            session_id: *session_id,
            daemon_id: *daemon_id,
            phase: *phase,
            progress: *progress,
            error: error.as_deref(),
            started_at: *started_at,
            finished_at: *finished_at,
        };
        let call = ClientCall::post(format!("/api/v1/discovery/{session_id}/update")).json(&body)?;
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Reports a host that a daemon has found. Returns the host as stored.
    ///
    /// # Errors
    /// `entity_reference_invalid`, `entity_already_exists`, `quota_exceeded`, `validation_…`.
    pub async fn report_host(&self, host: &Host) -> Result<Tagged<Host>, ClientError> {
        let no_json = |error| ClientError::request("The host has no JSON form.").caused_by(error);
        let mut host = serde_json::to_value(host).map_err(no_json)?;
        let mut body = serde_json::Map::new();
        for list in PART_LISTS {
            let parts = host.get_mut(list).map(Value::take).unwrap_or_default();
            body.insert(list.to_owned(), parts);
        }
        body.insert("host".to_owned(), host);
        self.tagged(ClientCall::post(format!("{}/discovery", Host::PATH)).json(&body)?).await
    }
}

fn of_daemon(id: DaemonId, operation: &str) -> String {
    format!("/api/daemons/{id}/{operation}")
}
