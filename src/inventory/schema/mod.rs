//! The storage schema: record kinds, unique keys, links and sort keys.
//!
//! It is the same whatever features are enabled, because a store may have the records of all.

mod keys;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use uuid::Uuid;

pub(super) use self::keys::*;
use super::Error;
use super::natural::without_case;
use crate::model::{NetworkId, OrganizationId, RecordId, Timestamp};
use crate::store::{
    Direction, Facets, Guard, Key, Link, LinkFilter, Name, Order, Precondition, Query, Record, SortKey,
    UniqueKey,
};

/// Defines the kinds of records.
macro_rules! kinds {
    ($($(#[doc = $documentation:literal])* $kind:ident = $name:literal;)*) => {
        $($(#[doc = $documentation])* pub(super) const $kind: Name = Name::new($name);)*

        #[cfg(test)]
        const KINDS: &[Name] = &[$($kind),*];
    };
}

kinds! {
    ORGANIZATION = "organization";
    /// A tombstone of an organization that is being deleted, stored under the organization's id.
    ///
    /// It exists while the records of the organization are deleted. It belongs to no organization.
    ORGANIZATION_DELETION = "organization_end";
    USER = "user";
    /// The hash of a user's password, stored under the user's id.
    PASSWORD = "password";
    NETWORK = "network";
    /// A tombstone of a network that is being deleted, stored under the network's id.
    ///
    /// It exists while the records of the host application on the network are deleted.
    NETWORK_DELETION = "network_deletion";
    TAG = "tag";
    /// A tombstone of a tag that is being deleted, stored under the tag's id.
    ///
    /// It exists while the tag is removed from the records that have it.
    TAG_DELETION = "tag_deletion";
    SUBNET = "subnet";
    /// A tombstone of a subnet that is being deleted, stored under the subnet's id.
    ///
    /// It exists while the subnet is removed from the interfaces that name it.
    SUBNET_DELETION = "subnet_deletion";
    /// The reservation of an address. The id is derived from the network and the address.
    ADDRESS_RESERVATION = "reserved_address";
    USER_API_KEY = "user_api_key";
    /// The verifier of an API key, stored under the key's id.
    ///
    /// It is a separate record, so that no response contains it.
    KEY_SECRET = "key_secret";
    /// The time an API key was last used, stored under the key's id.
    KEY_USE = "key_use";
    DAEMON_API_KEY = "daemon_api_key";
    SESSION = "session";
    SHARE = "share";
    /// A share's password hash and the secret of its tokens, stored under the share's id.
    SHARE_PASSWORD = "share_password";
    REFERRAL = "referral";
    HOST = "host";
    /// Services that were renamed or removed, while the hosts that they virtualize follow.
    SERVICE_RENAMING = "service_renaming";
    /// The form of the facets of hosts, stored once in a store.
    HOST_FACETS = "host_facets";
    /// The state of a host that discovery remembers, stored under the host's id.
    HOST_DISCOVERY = "host_discovery";
    /// The rows of one kind that a host reports.
    CLAIM = "claim";
    /// Written by every discovery that creates or merges hosts, stored under the network's id.
    ///
    /// Such a discovery requires the version that it read first. Two of them thus never create the same device twice.
    DISCOVERED_HOSTS = "discovered_hosts";
    /// The addresses of a subnet that a user has deleted. The id is derived from the network and the addresses.
    ///
    /// Discovery does not create such a subnet again.
    DELETED_SUBNET = "deleted_subnet";
    DAEMON = "daemon";
    DISCOVERY = "discovery";
    TOPOLOGY_LINK = "topology_link";
    /// The positions of nodes in a view of a network. The id is derived from the network and the view.
    TOPOLOGY_LAYOUT = "topology_layout";
    /// Where the nodes of a picture were when it was last drawn. The id is derived from the network, the view and the grouping.
    KEPT_LAYOUT = "kept_layout";
    /// The secret under which a share's pseudonyms are made, stored under the share's id.
    SHARE_SECRET = "share_secret";

    /// The answer to a request with an idempotency key. The id is derived from the user, the request and the key.
    IDEMPOTENCY_KEY = "idempotency_key";

    /// When the responses of a user were last ended, stored under the user's id. It belongs to no organization.
    REVOCATION = "revocation";

    /// The entries of one commit that are on one network, or on none.
    CHANGE = "change";
    /// Older entries of several commits that are on one network, or on none.
    CHANGE_RUN = "change_run";
    /// The number and the size of the older entries of an organization. The id is that of the organization.
    CHANGE_TOTALS = "change_totals";
    /// The numbers of older entries of an organization in one stretch of its history, by kind, action, actor and day.
    CHANGE_COUNTS = "change_counts";
    /// How far the links of a network are recorded in the history, stored under the network's id.
    NETWORK_LINKS = "network_links";
    /// A link as the history last recorded it. The id is derived from the network and the link.
    RECORDED_LINK = "recorded_link";
    /// Notes that claims of a network have changed without an entry of the history, and that the links that follow may not be
    /// recorded. Stored under the network's id.
    PENDING_CLAIMS = "pending_claims";
    /// The changes of a layout that the history does not have yet, stored under the layout's id.
    LAYOUT_MOVES = "layout_moves";
    /// The state of the history that all instances share, which belongs to no organization. Beside it, there are further records only
    /// while the entries of another store are written again.
    HISTORY = "history";

    /// A kind of records of the host application, of which the organization has or had some. The id is derived from both.
    ///
    /// The kinds themselves begin with `x.`.
    APPLICATION_KIND = "application_kind";
}

/// The kinds of the records of an organization, in the order in which its deletion deletes them.
///
/// Credentials and shares come first, so that access ends early. [`ORGANIZATION`] itself is missing, because the deletion begins with it. So are
/// the kinds of the host application, and [`APPLICATION_KIND`], which notes them: they come last.
pub(super) const KINDS_OF_ORGANIZATION: [Name; 38] = [
    SHARE,
    SHARE_PASSWORD,
    SHARE_SECRET,
    SESSION,
    KEY_SECRET,
    PASSWORD,
    USER_API_KEY,
    DAEMON_API_KEY,
    KEY_USE,
    USER,
    REFERRAL,
    DAEMON,
    DISCOVERY,
    CLAIM,
    HOST_DISCOVERY,
    DISCOVERED_HOSTS,
    DELETED_SUBNET,
    TOPOLOGY_LINK,
    TOPOLOGY_LAYOUT,
    KEPT_LAYOUT,
    SERVICE_RENAMING,
    HOST,
    ADDRESS_RESERVATION,
    SUBNET,
    SUBNET_DELETION,
    TAG,
    TAG_DELETION,
    NETWORK,
    NETWORK_DELETION,
    CHANGE,
    CHANGE_RUN,
    CHANGE_TOTALS,
    CHANGE_COUNTS,
    NETWORK_LINKS,
    RECORDED_LINK,
    PENDING_CLAIMS,
    LAYOUT_MOVES,
    IDEMPOTENCY_KEY,
];

/// The organization of a tag and its name, in its comparable form.
pub(super) const TAG_NAME_UNIQUE_KEY: Name = Name::new("tag_name");
/// The organization of a network and its name, in its comparable form.
pub(super) const NETWORK_NAME_UNIQUE_KEY: Name = Name::new("network_name");
/// The network of a subnet and its first address and prefix length.
pub(super) const CIDR_UNIQUE_KEY: Name = Name::new("cidr");
/// The ends of a link that a user has entered or suppressed.
pub(super) const LINK_ENDS_UNIQUE_KEY: Name = Name::new("link_ends");
/// A user's e-mail address, in its comparable form. Only users of earlier versions have it.
pub(super) const EMAIL_UNIQUE_KEY: Name = Name::new("email");
/// The organization of a user and the user's e-mail address, in its comparable form.
pub(super) const EMAIL_IN_ORGANIZATION_UNIQUE_KEY: Name = Name::new("user_email");
/// The lookup half of an API key's digest.
pub(super) const DIGEST_UNIQUE_KEY: Name = Name::new("digest");
/// The lookup half of a session id's digest.
pub(super) const SESSION_UNIQUE_KEY: Name = Name::new("session");
/// The organization and user of a referral.
pub(super) const REFERRAL_UNIQUE_KEY: Name = Name::new("referral");
/// A port within its organization; identifies the host that contains it.
pub(super) const PORT_UNIQUE_KEY: Name = Name::new("port");
/// A service within its organization; identifies the host that contains it.
pub(super) const SERVICE_UNIQUE_KEY: Name = Name::new("service");
/// An interface within its organization; identifies the host that contains it.
pub(super) const INTERFACE_UNIQUE_KEY: Name = Name::new("interface");
/// An interface entry within its organization; identifies the host that contains it.
pub(super) const IF_ENTRY_UNIQUE_KEY: Name = Name::new("if_entry");

pub(super) const TAG_LINK: Name = Name::new("tag");
pub(super) const SERVICE_TAG_LINK: Name = Name::new("service_tag");
pub(super) const NETWORK_LINK: Name = Name::new("network");
pub(super) const USER_LINK: Name = Name::new("user");
/// From a user to its e-mail address, whatever the organization.
pub(super) const EMAIL_LINK: Name = Name::new("email");
/// From an enabled Owner to the organization.
pub(super) const OWNER_LINK: Name = Name::new("owner_of");
/// From a session to its user. A separate relation, so that a guard can cover exactly the user's sessions.
pub(super) const SESSION_LINK: Name = Name::new("session_of");
/// From the answer to a request to the user.
pub(super) const REQUEST_LINK: Name = Name::new("request_of");
/// From a host to a subnet of one of its interfaces.
pub(super) const SUBNET_LINK: Name = Name::new("subnet");
/// From a host to a neighbor of one of its interface entries. The neighbor is a host or an interface entry.
pub(super) const NEIGHBOR_LINK: Name = Name::new("neighbor");
/// From a claim to the host that reports it.
pub(super) const CLAIM_LINK: Name = Name::new("claim_of");
/// From the reservation of an address to the subnet in which it was reserved.
pub(super) const RESERVED_IN: Name = Name::new("reserved_in");
/// From a link that a user has entered to the hosts at its ends.
pub(super) const LINKED_HOST: Name = Name::new("linked_host");
/// From a host to the service that virtualizes it.
pub(super) const VIRTUALIZED_BY_LINK: Name = Name::new("virtualized_by");
/// From a host to a service that virtualizes one of the host's services.
pub(super) const SERVICE_VIRTUALIZED_BY_LINK: Name = Name::new("service_run_by");

/// From a daemon to the API key that registered it.
pub(super) const DAEMON_KEY_LINK: Name = Name::new("registered_by");
/// From a discovery job to its network. It exists until the daemon has been told of the job's end.
pub(super) const OPEN_LINK: Name = Name::new("open_on");
/// From a discovery job to its network. It exists once no daemon still has to learn of the job.
pub(super) const ENDED_LINK: Name = Name::new("ended_on");
/// From an open discovery job to its daemon.
pub(super) const ASSIGNED_LINK: Name = Name::new("assigned_to");

/// From a record of changes to the records that were changed.
pub(super) const CHANGED_LINK: Name = Name::new("changed");
/// Whether a record of changes has security events, and its audience, such as a network. It is a term, so the network can be deleted
/// nevertheless.
pub(super) const CHANGED_FOR: Name = Name::new("changed_for");
/// From a run of changes to the many changed records, as terms: the ends of their ids.
pub(super) const CHANGED_TERM: Name = Name::new("changed");
/// The version of the reservation of an address.
pub(super) const RESERVED: Name = Name::new("reserved");
/// The era of a record of changes and the version of its commit. Of a run, followed by the number of its last entry.
pub(super) const WRITTEN: Name = Name::new("written");

/// From a recorded link to its network, which it does not keep from being deleted.
pub(super) const RECORDED_ON: Name = Name::new("recorded_on");

pub(super) const CREATED_AT: Name = Name::new("created_at");
pub(super) const UPDATED_AT: Name = Name::new("updated_at");
pub(super) const NAME: Name = Name::new("name");

/// Returns the guard that a record exists.
pub(super) const fn exists(key: Key) -> Guard {
    Guard::Record { key, precondition: Precondition::Present }
}

/// Returns the unique key of a name within an organization, regardless of case.
pub(super) fn name_unique_key(key: Name, organization: OrganizationId, name: &str) -> UniqueKey {
    unique_key_within(key, organization, &without_case(name))
}

/// Returns the unique key of a text within an organization.
pub(super) fn unique_key_within(key: Name, organization: OrganizationId, text: &str) -> UniqueKey {
    let digest = Sha256::new().chain_update(organization.as_bytes()).chain_update(text).finalize();
    UniqueKey::new(key, digest.first_chunk::<16>().map_or(digest.as_slice(), <[u8; 16]>::as_slice))
}

/// Encodes a time as a sort key.
///
/// The sign bit of the microseconds is flipped, so that the bytes sort by time.
pub(super) fn time_sort_key(name: Name, time: Timestamp) -> SortKey {
    SortKey::new(name, (time.unix_micros() ^ i64::MIN).to_be_bytes())
}

/// Returns the facets common to all records of an organization.
pub(super) fn facets(organization: OrganizationId, created_at: Timestamp) -> Facets {
    Facets {
        organization: Some(organization.uuid()),
        sort_keys: vec![time_sort_key(CREATED_AT, created_at)],
        ..Facets::default()
    }
}

/// Queries an organization's records of a kind, oldest first.
pub(super) fn all_of(kind: Name, organization: OrganizationId) -> Query {
    let order = vec![Order::new(CREATED_AT, Direction::Ascending)];
    Query { organization: Some(organization.uuid()), order, ..Query::new(kind) }
}

/// Queries an organization's records of a kind that link to another record.
pub(super) fn linked(kind: Name, organization: OrganizationId, link: Link) -> Query {
    let filter = LinkFilter::new(link.relation, [link.target]);
    Query { links: vec![filter], ..all_of(kind, organization) }
}

/// Queries an organization's records of a kind on a network, by id.
pub(super) fn on_network(kind: Name, organization: OrganizationId, network: NetworkId) -> Query {
    Query {
        organization: Some(organization.uuid()),
        networks: Some(vec![network.uuid()]),
        ..Query::new(kind)
    }
}

pub(super) fn links<I: RecordId>(relation: Name, targets: &[I]) -> impl Iterator<Item = Link> + '_ {
    targets.iter().map(move |target| Link::new(relation, (*target).into()))
}

/// Returns the unique key of a part of a host, such as a port.
///
/// The key is the beginning of a digest of both ids. Unique keys stay in memory, and a host has many, so they are
/// short. Among ten million parts, the probability of a collision is less than one in 100,000; to collide with a chosen
/// part of another organization takes 2^64 attempts. After a collision, the inventory refuses an id that is free, and a
/// part of another organization could be found. So callers check the organization of the host that they find.
pub(super) fn part_unique_key(name: Name, organization: OrganizationId, id: impl Into<Uuid>) -> UniqueKey {
    let id: Uuid = id.into();
    let digest = Sha256::new().chain_update(organization.as_bytes()).chain_update(id).finalize();
    UniqueKey::new(name, digest.first_chunk::<8>().map_or(digest.as_slice(), <[u8; 8]>::as_slice))
}

pub(super) fn encode(value: &impl Serialize) -> Result<Bytes, Error> {
    serde_json::to_vec(value).map(|body| body.into_boxed_slice().into()).map_err(Error::internal)
}

pub(super) fn decode<T: DeserializeOwned>(record: &Record) -> Result<T, Error> {
    decode_text(record.key, &record.body)
}

/// Decodes the body of a record.
pub(super) fn decode_text<T: DeserializeOwned>(key: Key, text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(|error| damaged(key, &error))
}

/// Creates the error for a stored record that cannot be decoded.
pub(super) fn damaged(key: Key, error: &serde_json::Error) -> Error {
    // serde's own message may quote stored data.
    Error::internal(format!(
        "the {key} cannot be decoded: {:?} error at column {}",
        error.classify(),
        error.column()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_deleted_with_its_organization_or_known_to_outlive_it() {
        // The first two begin and end a deletion, the next three belong to no organization, and the last one is deleted last.
        let others =
            [ORGANIZATION, ORGANIZATION_DELETION, HOST_FACETS, REVOCATION, HISTORY, APPLICATION_KIND];
        for kind in KINDS {
            assert!(KINDS_OF_ORGANIZATION.contains(kind) != others.contains(kind), "{kind}");
        }
        assert_eq!(KINDS.len(), KINDS_OF_ORGANIZATION.len() + others.len());
    }

    #[test]
    fn guide_names_every_kind_and_none_is_of_an_application() {
        let guide = include_str!("../../guide/existing_application.md");
        for kind in KINDS {
            assert!(!kind.is_of_application() && guide.contains(&format!("`{kind}`")), "{kind}");
        }
        for (name, is_of_application) in [("x.rack", true), ("x.", false), ("x", false), ("y.rack", false)] {
            assert_eq!(Name::new(name).is_of_application(), is_of_application, "{name}");
        }
    }
}
