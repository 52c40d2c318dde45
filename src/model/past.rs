use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    ChangeAction, ChangeActor, ChangePosition, ChangedEntity, FieldChange, HostId, IfEntryId, LinkId,
    NetworkId, NodeId,
};

/// The differences between two states of an organization.
///
/// Changes that cancel out between the two states are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct StateDiff {
    /// The hosts that differ.
    pub hosts: HostDiff,
    /// The links that differ.
    #[serde(default)]
    pub links: LinkDiff,
    /// Whether hosts or links are left out of the lists, because there are too many. The numbers count them.
    pub truncated: bool,
}

/// The hosts that differ between two states.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HostDiff {
    /// The hosts that only the later state has, by id.
    pub added: Vec<DiffedHost>,
    /// The hosts that only the earlier state has, by id. The name and the network are the last ones.
    pub removed: Vec<DiffedHost>,
    /// The hosts that both states have, with different fields, by id.
    pub changed: Vec<ChangedHost>,
    /// The numbers of these hosts, including those that are left out.
    pub counts: DiffCounts,
}

/// A host that only one of two states has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffedHost {
    /// The id.
    pub id: HostId,
    /// The name.
    pub name: String,
    /// The network.
    pub network_id: Option<NetworkId>,
}

/// A host that differs between two states.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangedHost {
    /// The id.
    pub id: HostId,
    /// The name in the later state.
    pub name: String,
    /// The network in the later state.
    pub network_id: Option<NetworkId>,
    /// The fields that differ, by their paths as in a [`Change`](super::Change).
    pub fields: BTreeMap<String, FieldChange>,
}

/// The numbers of hosts that differ between two states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffCounts {
    /// The number of hosts that only the later state has.
    pub added: u64,
    /// The number of hosts that only the earlier state has.
    pub removed: u64,
    /// The number of hosts that both states have, with different fields.
    ///
    /// In a truncated diff, hosts that are left out also count if their changes cancel out.
    pub changed: u64,
}

/// The links that differ between two states. Links follow from other records, and are recorded shortly after these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LinkDiff {
    /// The links that only the later state has, by id.
    pub added: Vec<DiffedLink>,
    /// The links that only the earlier state has, by id.
    pub removed: Vec<DiffedLink>,
    /// The links of which one end has moved to another port, by the former id.
    pub moved: Vec<MovedLink>,
    /// The numbers of these links, including those that are left out.
    pub counts: LinkDiffCounts,
}

/// A link that only one of two states has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffedLink {
    /// The id, as that of an edge in the topology.
    pub id: LinkId,
    /// The network.
    pub network_id: Option<NetworkId>,
    /// The end with the smaller id.
    pub source: DiffedLinkEnd,
    /// The other end.
    pub target: DiffedLinkEnd,
}

/// An end of a link that differs between two states.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DiffedLinkEnd {
    /// The id of the host, or of the device or the segment that is no host, as that of a node in the topology.
    pub id: NodeId,
    /// The interface entry of the port; `None` if it is unknown, or no entry of the host.
    pub if_entry_id: Option<IfEntryId>,
    /// The name of the port; `None` when unknown.
    pub port: Option<String>,
}

/// A link of which one end has moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MovedLink {
    /// The link in the earlier state.
    pub before: DiffedLink,
    /// The link in the later state.
    pub after: DiffedLink,
}

/// The numbers of links that differ between two states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LinkDiffCounts {
    /// The number of links that only the later state has.
    pub added: u64,
    /// The number of links that only the earlier state has.
    pub removed: u64,
    /// The number of links of which one end has moved.
    pub moved: u64,
}

/// The numbers of changes in a part of the history of an organization.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangeSummary {
    /// The numbers, by day, kind of record, action and actor. Changes that do not occur have no element.
    pub counts: Vec<ChangeCount>,
    /// The position after the last change that is counted, if more follow it. A summary since this position counts
    /// them.
    pub next: Option<ChangePosition>,
}

/// The number of changes of one day, kind of record, action and actor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ChangeCount {
    /// The day in UTC, such as `2026-11-27`.
    #[cfg_attr(feature = "openapi", schemars(extend("format" = "date")))]
    pub day: String,
    /// The kind of records that changed.
    pub entity: ChangedEntity,
    /// The kind of change.
    pub action: ChangeAction,
    /// The maker of the changes. All API keys of a user count as the user.
    pub actor: ChangeActor,
    /// The number of changes.
    pub count: u64,
}
