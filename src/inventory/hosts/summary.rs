use serde::Deserialize;
use uuid::Uuid;

use crate::model::Host;

/// The part of a stored host that changes of hosts need.
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

impl From<&Host> for Summary {
    fn from(host: &Host) -> Self {
        let services = host.services.iter();
        let services = services.map(|service| ServiceSummary { id: service.id, name: service.name.clone() });
        Self { network_id: host.network_id, services: services.collect() }
    }
}
