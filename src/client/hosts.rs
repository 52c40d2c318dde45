//! Many hosts at once, and the update of a port.

use form_urlencoded::Serializer;
use http::HeaderValue;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::call::ClientCall;
use super::collection::item;
use super::query::query_text;
use super::{Client, ClientError, Collection, Download, HttpService, RequestBody};
use crate::model::{Host, HostId, NetworkId, Port, PortId, PortNumber, Protocol};
use crate::wire::{Atomicity, HostQuery, ImportReport, PortUpdate};

const JSON_LINES: &str = "application/x-ndjson";
const CSV: &str = "text/csv";

/// The outcome of one host of [`Client::put_hosts`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct HostOutcome {
    /// The position of the host in the request, from 0.
    pub index: usize,
    /// The id of the host; `None` if it has none.
    pub id: Option<HostId>,
    /// The outcome.
    pub outcome: Outcome,
    /// The error of a host that was not stored.
    pub error: Option<OutcomeError>,
}

/// The outcome of storing one of many hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// The host is new.
    Created,
    /// The host was replaced.
    Updated,
    /// The host was stored exactly so already.
    Unchanged,
    /// The host was not stored.
    Failed,
    /// Unknown to this version.
    #[serde(other)]
    Unknown,
}

/// The error of one of many hosts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct OutcomeError {
    /// The error code as text; see [`ErrorCode`](crate::wire::ErrorCode).
    pub code: String,
    /// A sentence that describes the error to a person.
    pub error: String,
    /// Details of the error.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// Options of [`Client::import_hosts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ImportOptions {
    /// Refuses lines of other networks than this one. Default: each line is imported on its own network.
    pub network_id: Option<NetworkId>,
    /// Checks the lines and stores nothing.
    pub dry_run: bool,
}

impl<S: HttpService> Client<S> {
    /// Creates or replaces up to 1,000 hosts by id.
    ///
    /// # Errors
    /// The errors of [`create`](Self::create), for all hosts together. The field of a `validation_…` error begins with
    /// `hosts.` and the position of the host.
    pub async fn put_hosts(
        &self,
        hosts: &[Host],
        atomicity: Atomicity,
    ) -> Result<Vec<HostOutcome>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            hosts: &'a [Host],
            atomic: bool,
        }
        let body = Body { hosts, atomic: atomicity == Atomicity::AllOrNothing };
        self.value(ClientCall::post(format!("{}/bulk", Host::PATH)).json(&body)?).await
    }

    /// Imports hosts from JSON Lines of any length, which are read while they are sent.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService, ImportOptions, RequestBody};
    /// # use toposcope::inventory::HostQuery;
    /// # async fn example<S: HttpService>(old: Client<S>, new: Client<S>) -> Result<(), ClientError> {
    /// let hosts = old.export_hosts(&HostQuery::default()).await?;
    /// let report = new.import_hosts(RequestBody::stream(hosts), ImportOptions::default()).await?;
    /// print!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `entity_reference_invalid`, `entity_access_denied`: of the network. A line that is not imported is no error.
    pub async fn import_hosts(
        &self,
        lines: RequestBody,
        options: ImportOptions,
    ) -> Result<ImportReport, ClientError> {
        self.import_of_type(JSON_LINES, lines, options).await
    }

    /// Imports hosts from a CSV with a header, like [`import_hosts`](Self::import_hosts).
    ///
    /// The network of the options is that of rows without one.
    ///
    /// # Errors
    /// The errors of [`import_hosts`](Self::import_hosts); `validation_required` and `validation_invalid_format`: of the header.
    pub async fn import_csv(
        &self,
        csv: RequestBody,
        options: ImportOptions,
    ) -> Result<ImportReport, ClientError> {
        self.import_of_type(CSV, csv, options).await
    }

    async fn import_of_type(
        &self,
        media_type: &'static str,
        body: RequestBody,
        options: ImportOptions,
    ) -> Result<ImportReport, ClientError> {
        let mut query = Serializer::new(String::new());
        if let Some(network) = options.network_id {
            query.append_pair("network_id", &network.to_string());
        }
        query.append_pair("dry_run", &options.dry_run.to_string());
        let call = ClientCall::post(format!("{}/import?{}", Host::PATH, query.finish()));
        self.value(call.body(HeaderValue::from_static(media_type), body)).await
    }

    /// Returns all hosts of a list as JSON Lines: one host a line. The query's limit and offset are ignored.
    ///
    /// # Errors
    /// `Request` for filters that [`list`](Self::list) refuses.
    pub async fn export_hosts(&self, query: &HostQuery) -> Result<Download, ClientError> {
        self.export_as(JSON_LINES, query).await
    }

    /// Returns all hosts of a list as a CSV, like [`export_hosts`](Self::export_hosts).
    ///
    /// # Errors
    /// The errors of [`export_hosts`](Self::export_hosts); `UnexpectedResponse` if the server has no CSV.
    pub async fn export_csv(&self, query: &HostQuery) -> Result<Download, ClientError> {
        self.export_as(CSV, query).await
    }

    async fn export_as(&self, media_type: &'static str, query: &HostQuery) -> Result<Download, ClientError> {
        let whole = HostQuery { limit: None, offset: 0, ..query.clone() };
        let call = ClientCall::get(format!("{}?{}", Host::PATH, query_text(&whole)?));
        Ok(self.send_for(call, media_type).await?.into_download())
    }

    /// Updates the number and the protocol of a port.
    ///
    /// # Errors
    /// `entity_already_exists`, `entity_in_use`; the errors of [`get`](Self::get).
    pub async fn update_port(&self, id: PortId, update: PortUpdate) -> Result<Port, ClientError> {
        #[derive(Serialize)]
        struct Body {
            host_id: HostId,
            network_id: NetworkId,
            number: PortNumber,
            protocol: Protocol,
        }
        let PortUpdate { host_id, network_id, number, protocol } = update;
        let body = Body { host_id, network_id, number, protocol };
        self.value(ClientCall::put(item::<Port>(id)).json(&body)?).await
    }
}
