use serde::Deserialize;
use uuid::Uuid;

/// As much of a stored host as a change of it must know.
#[derive(Debug, Deserialize)]
pub(super) struct Summary {
    pub(super) network_id: Uuid,
    pub(super) services: Vec<ServiceSummary>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ServiceSummary {
    pub(super) id: Uuid,
    pub(super) name: String,
}
