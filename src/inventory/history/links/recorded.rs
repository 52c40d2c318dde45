//! The records of followed networks, and of the links that were recorded last.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::followers::FollowedKey;
use crate::inventory::history::log::position::Place;
use crate::inventory::schema::{NETWORK, NETWORK_LINKS, RECORDED_LINK, RECORDED_ON, encode};
use crate::inventory::{Error, Inventory};
use crate::model::{HostId, IfEntryId, LinkId, NetworkId, OrganizationId, derived_id};
use crate::store::{Batch, Facets, Key, Link as StoreLink, LinkFilter, Precondition, Query, Record, Write};
use crate::topology::links::{Confidence, End, Link, Method, PortRef, RULES, Rule};

/// The rules by which links follow from records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinkRules {
    pub(super) version: u32,
    /// A digest of the rules for names of ports, unless they are the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) port_names: Option<String>,
}

/// The record of a network that states how far its links are recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::inventory::history) struct RecordedNetwork {
    pub(super) organization_id: OrganizationId,
    /// The rules of the links that were recorded.
    pub(super) rules: LinkRules,
    /// The place of the last entry whose consequences are recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::inventory::history) reached: Option<Place>,
    /// A random number of the turn that has written it.
    #[serde(default)]
    pub(super) turn: u64,
}

/// The document of a link in the history. Times and the states of ports are left out.
#[derive(Debug, Serialize)]
struct LinkDocument<'l> {
    id: LinkId,
    network_id: NetworkId,
    source: &'l End,
    target: &'l End,
    /// The strongest of the rules that support the link.
    rule: Option<Rule>,
    confidence: Confidence,
    stale: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<MemberPorts<'l>>,
    evidence: Vec<RecordedEvidence>,
}

#[derive(Debug, Serialize)]
struct MemberPorts<'l> {
    source_port: &'l Option<PortRef>,
    target_port: &'l Option<PortRef>,
}

#[derive(Debug, PartialEq, Serialize)]
struct RecordedEvidence {
    method: Method,
    rule: Rule,
    #[serde(skip_serializing_if = "Option::is_none")]
    reporter_host_id: Option<HostId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    if_entry_id: Option<IfEntryId>,
}

/// The part of a document that names a link's ends.
#[derive(Debug, Deserialize)]
pub(super) struct RecordedEnds {
    pub(super) id: LinkId,
    pub(super) source: End,
    pub(super) target: End,
}

impl RecordedEnds {
    /// Returns the name of the link in the history: the names of its ports, as far as they are known.
    pub(super) fn name(&self) -> String {
        let name = |end: &End| match end {
            End::Host { port, .. } | End::Stub { port, .. } => port.as_ref().map(|port| port.name.clone()),
            End::Segment { .. } => None,
        };
        let names: Vec<String> = [&self.source, &self.target].into_iter().filter_map(name).collect();
        names.join(" – ")
    }

    /// Returns the hosts at the ends.
    pub(super) fn hosts(&self) -> impl Iterator<Item = HostId> {
        [&self.source, &self.target].into_iter().filter_map(|end| match end {
            End::Host { host_id, .. } => Some(*host_id),
            End::Stub { .. } | End::Segment { .. } => None,
        })
    }
}

/// Returns the document of a link, as the history and the store have it.
pub(super) fn document(network_id: NetworkId, link: &Link) -> Result<Bytes, Error> {
    let mut evidence: Vec<RecordedEvidence> = Vec::with_capacity(link.evidence.len());
    for claim in &link.evidence {
        let (method, rule) = (claim.method, claim.rule);
        let (reporter_host_id, if_entry_id) = (claim.reporter_host_id, claim.if_entry_id);
        let recorded = RecordedEvidence { method, rule, reporter_host_id, if_entry_id };
        // They are in an order in which equal ones follow each other.
        if evidence.last() != Some(&recorded) {
            evidence.push(recorded);
        }
    }
    let members = link
        .members
        .iter()
        .map(|member| MemberPorts { source_port: &member.source_port, target_port: &member.target_port });
    encode(&LinkDocument {
        id: link.id,
        network_id,
        source: &link.source,
        target: &link.target,
        rule: link.evidence.iter().map(|claim| claim.rule).min(),
        confidence: link.confidence,
        stale: link.stale,
        members: members.collect(),
        evidence,
    })
}

pub(super) const fn network_links_key(network: NetworkId) -> Key {
    Key::new(NETWORK_LINKS, network.uuid())
}

pub(super) fn recorded_link_key(network: NetworkId, link: LinkId) -> Key {
    Key::new(RECORDED_LINK, derived_id("recorded link", &[network.as_bytes(), link.as_bytes()]))
}

/// Returns the facets of a recorded link.
pub(super) fn recorded_link_facets((organization, network): FollowedKey) -> Facets {
    let on = StoreLink::new(RECORDED_ON, network.uuid());
    Facets::default().with_organization(organization.uuid()).with_links([on])
}

/// Returns the query of the recorded links of a network.
pub(super) fn recorded_links((organization, network): FollowedKey) -> Query {
    let links = vec![LinkFilter::new(RECORDED_ON, [network.uuid()])];
    Query { organization: Some(organization.uuid()), links, ..Query::new(RECORDED_LINK) }
}

impl RecordedNetwork {
    pub(in crate::inventory::history) fn put(
        &self,
        network: NetworkId,
        precondition: Precondition,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let facets = Facets::default().with_organization(self.organization_id.uuid());
        batch.put(network_links_key(network), precondition, facets, encode(self)?);
        Ok(())
    }
}

impl Inventory {
    /// Returns the rules by which this instance computes links.
    pub(super) fn link_rules(&self) -> LinkRules {
        let port_names = self.port_names.digest().map(|digest| format!("{digest:032x}"));
        LinkRules { version: RULES, port_names }
    }

    /// Adds the records of new networks to a batch: all their links are recorded from the beginning.
    pub(in crate::inventory::history) fn put_followed_networks(
        &self,
        organization_id: OrganizationId,
        before: &BTreeMap<Key, Record>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let is_new = |key: &Key| key.kind == NETWORK && !before.contains_key(key);
        let puts = batch.writes().iter().filter_map(|write| match write {
            Write::Put { key, .. } => Some(*key),
            Write::Delete { .. } => None,
        });
        for key in puts.filter(is_new).collect::<Vec<_>>() {
            let rules = self.link_rules();
            let network = RecordedNetwork { organization_id, rules, reached: None, turn: 0 };
            // A former network with this id may have left a record.
            network.put(NetworkId::new(key.id), Precondition::Any, batch)?;
        }
        Ok(())
    }
}
