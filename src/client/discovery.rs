//! Discovery: the work that users give to daemons, and the requests of daemons.

use http::HeaderValue;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde::Serialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use uuid::Uuid;

use super::call::Call;
use super::collection::item;
use super::{Client, ClientError, Collection, Download, HttpService, Tagged};
use crate::inventory::{DaemonStatus, DiscoveryUpdate, NewDaemon, NewDiscovery};
use crate::model::{
    DaemonCapabilities, DaemonMode, Discovery, DiscoveryPhase, DiscoveryType, Host, Timestamp,
};
use crate::wire::daemon::{DaemonRegistration, DaemonWork, ServerCapabilities};

const EVENTS: &str = "text/event-stream";

/// The lists of a host, which stand beside it in a daemon's report.
const LISTS: [&str; 4] = ["interfaces", "ports", "services", "if_entries"];

impl<S: HttpService> Client<S> {
    /// Queues work for a discovery daemon.
    ///
    /// # Errors
    /// `entity_reference_invalid`, `entity_access_denied`, `quota_exceeded`, `validation_…`.
    pub async fn create_discovery(&self, new: &NewDiscovery) -> Result<Tagged<Discovery>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            network_id: Uuid,
            daemon_id: Option<Uuid>,
            r#type: DiscoveryType,
            subnet_ids: Option<&'a [Uuid]>,
        }
        let NewDiscovery { network_id, daemon_id, discovery_type, subnet_ids } = new;
        let (network_id, daemon_id, r#type) = (*network_id, *daemon_id, *discovery_type);
        let body = Body { network_id, daemon_id, r#type, subnet_ids: subnet_ids.as_deref() };
        self.tagged(Call::post(Discovery::PATH).json(&body)?).await
    }

    /// Cancels work, unless it has ended.
    ///
    /// # Errors
    /// Those of [`get`](Self::get).
    pub async fn cancel_discovery(&self, id: Uuid) -> Result<Tagged<Discovery>, ClientError> {
        self.tagged(Call::post(format!("{}/cancel", item::<Discovery>(id)))).await
    }

    /// Returns the discoveries of all networks or of one, and then their changes, as server-sent events.
    ///
    /// The server ends the stream after 15 minutes. The first events of the next one are the present states.
    ///
    /// # Errors
    /// `rate_limit_exceeded` when too many streams are open.
    pub async fn stream_discoveries(&self, network_id: Option<Uuid>) -> Result<Download, ClientError> {
        let filter = network_id.map(|network| format!("?network_id={network}")).unwrap_or_default();
        let call = Call::get(format!("{}/stream{filter}", Discovery::PATH));
        let answer = self.send(call.header(ACCEPT, HeaderValue::from_static(EVENTS))).await?;
        let content_type = answer.parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|content_type| content_type.starts_with(EVENTS)) {
            let error = ClientError::unexpected("The answer is not a stream of events.");
            return Err(error.with_status(answer.parts.status));
        }
        Ok(answer.into_download())
    }

    /// Registers a daemon. Like all requests of daemons, it requires a daemon's API key.
    ///
    /// # Errors
    /// `quota_exceeded`, `validation_…`.
    pub async fn register_daemon(&self, new: &NewDaemon) -> Result<DaemonRegistration, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            daemon_id: Uuid,
            name: &'a str,
            mode: DaemonMode,
            version: Option<&'a str>,
            capabilities: &'a DaemonCapabilities,
        }
        let NewDaemon { id, name, mode, version, capabilities } = new;
        let (daemon_id, mode, version) = (*id, *mode, version.as_deref());
        let body = Body { daemon_id, name, mode, version, capabilities };
        self.value(Call::post("/api/daemons/register").json(&body)?).await
    }

    /// Records that a daemon has started.
    ///
    /// # Errors
    /// `entity_not_found` unless this key has registered the daemon.
    pub async fn announce_daemon(&self, id: Uuid, version: &str) -> Result<ServerCapabilities, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            daemon_version: &'a str,
        }
        self.value(Call::post(of_daemon(id, "startup")).json(&Body { daemon_version: version })?).await
    }

    /// Returns the next work of a daemon, and whether it has to stop what it is doing.
    ///
    /// # Errors
    /// `entity_not_found` unless this key has registered the daemon.
    pub async fn request_work(&self, id: Uuid, status: &DaemonStatus) -> Result<DaemonWork, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            version: Option<&'a str>,
            ready_for_work: Option<bool>,
        }
        let body = Body { version: status.version.as_deref(), ready_for_work: status.is_ready };
        self.value(Call::post(of_daemon(id, "request-work")).json(&body)?).await
    }

    /// Replaces the capabilities of a daemon.
    ///
    /// # Errors
    /// `entity_not_found` unless this key has registered the daemon.
    pub async fn update_daemon_capabilities(
        &self,
        id: Uuid,
        capabilities: &DaemonCapabilities,
    ) -> Result<(), ClientError> {
        let call = Call::post(of_daemon(id, "update-capabilities")).json(capabilities)?;
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Reports the progress of a session. The server ignores sessions that the daemon does not have.
    ///
    /// # Errors
    /// `validation_…`.
    pub async fn report_progress(&self, update: &DiscoveryUpdate) -> Result<(), ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            session_id: Uuid,
            daemon_id: Uuid,
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
        let call = Call::post(format!("/api/v1/discovery/{session_id}/update")).json(&body)?;
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
        for list in LISTS {
            let parts = host.get_mut(list).map(Value::take).unwrap_or_default();
            body.insert(list.to_owned(), parts);
        }
        body.insert("host".to_owned(), host);
        self.tagged(Call::post(format!("{}/discovery", Host::PATH)).json(&body)?).await
    }
}

fn of_daemon(id: Uuid, operation: &str) -> String {
    format!("/api/daemons/{id}/{operation}")
}
