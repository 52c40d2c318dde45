//! The records of the API as plain typed values.
//!
//! The serde implementations define the JSON form of each record. Serialization writes every field; absent values are
//! `null`. Only these are omitted when absent: the values that SNMP reports of a device as a whole (such as
//! [`Host::sys_name`]), the role and the custom fields of a host, the custom fields of a network, the aggregate and the
//! VLANs of a port, the external id of a user, the API key of a daemon and when it last reported, and the attempts and
//! credentials of a discovery, which are also omitted when there are none. Deserialization is lenient: nullable fields
//! and the lists of hosts and services may be missing, and unknown fields are ignored. Duplicate fields are rejected.
//!
//! Each kind of record has a type of ids, such as [`HostId`]. In JSON, ids are UUIDs. An id of another kind does not
//! compile:
//!
//! ```compile_fail,E0308
//! use toposcope::model::{Host, HostId, NetworkId};
//!
//! let (host, network) = (HostId::from_u128(1), NetworkId::from_u128(2));
//! let host = Host::with_id(network, host, "printer");
//! ```
//!
//! The types validate what can be checked within one record. They do not know whether referenced records exist or
//! which organization owns them.

mod address_reservation;
mod api_key;
mod change;
mod color;
mod construct;
mod custom;
#[cfg(feature = "discovery")]
mod daemon;
#[cfg(feature = "discovery")]
mod discovery;
#[cfg(test)]
pub(crate) mod extended;
mod field;
mod host;
mod id;
mod interface;
#[cfg(feature = "openapi")]
pub(crate) mod json_schema;
mod mac;
mod order;
mod organization;
mod part;
mod past;
mod port;
pub mod referral_source;
mod role;
mod service;
mod service_roles;
mod share;
#[cfg(feature = "discovery")]
mod snmp_credentials;
mod source;
mod subnet;
mod text;
mod timestamp;
#[cfg(feature = "topology")]
mod topology;
mod value;

pub use address_reservation::AddressReservation;
pub use api_key::{DaemonApiKey, UserApiKey};
pub use change::{
    ApplyChangeError, Change, ChangeAction, ChangeActionError, ChangeActor, ChangePosition, ChangedEntity,
    ChangedEntityError, FieldChange,
};
#[cfg(feature = "service")]
pub(crate) use change::{ORDER, apply_fields, set};
pub use color::{Color, ColorError};
pub(crate) use construct::derived_id;
#[cfg(feature = "topology")]
pub(crate) use construct::group_node_id;
pub use custom::Custom;
pub(crate) use custom::{Exact, LONG_INTEGER, read_custom};
#[cfg(feature = "discovery")]
pub use daemon::{DaemonCapabilities, DaemonMode, DiscoveryDaemon};
#[cfg(feature = "discovery")]
pub use discovery::{Discovery, DiscoveryPhase, DiscoveryType};
pub(crate) use field::{Accessor, Field, Record, Setter, Text, empty_record, record};
pub(crate) use host::host_fields;
pub use host::{CredentialAssignment, Host, HostVirtualization, ProxmoxVirtualization};
pub use id::{
    AddressReservationId, ApplicationRecordId, BindingId, CredentialId, DaemonApiKeyId, DaemonId,
    DiscoveryId, HostId, IfEntryId, InterfaceId, LinkId, LoginSessionId, NetworkId, NodeId, OrganizationId,
    PortId, ReferralId, ServiceId, ShareId, SubnetId, TagId, TopologyLinkId, UserApiKeyId, UserId,
};
pub(crate) use id::{RecordId, UuidMut, uuids};
pub use interface::{
    AdminStatus, IfEntry, Interface, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype,
    MacSource, Neighbor, OperStatus, Vlans,
};
pub(crate) use interface::{if_entry_fields, interface_fields};
pub(crate) use mac::mac_digits;
pub use mac::{MacAddress, MacAddressError, MacPrefix, MacPrefixError};
pub use order::{HostOrderField, HostOrderFieldError, OrderDirection, OrderDirectionError};
pub use organization::{Network, Organization, Permission, Referral, Session, Tag, User};
pub(crate) use part::{Age, Common, HostPart, for_each_part_type, part_ids};
pub use past::{
    ChangeCount, ChangeSummary, ChangedHost, DiffCounts, DiffedHost, DiffedLink, DiffedLinkEnd, HostDiff,
    LinkDiff, LinkDiffCounts, MovedLink, StateDiff,
};
pub(crate) use port::{PORT_NAMES, port_fields};
pub use port::{Port, PortNumber, PortNumberError, Protocol, ProtocolError};
pub use role::{ApplicationRole, HostRole, HostRoleError};
pub(crate) use service::service_fields;
pub use service::{
    Binding, BindingTarget, DockerVirtualization, Service, ServiceDefinition, ServiceDefinitionError,
    ServiceVirtualization,
};
pub use service_roles::ServiceRoles;
pub use share::{Redaction, Share, ShareMetadata, ShareOptions, TopologyView, TopologyViewError};
#[cfg(feature = "discovery")]
pub use snmp_credentials::{Secret, SnmpCredentials, SnmpCredentialsError};
pub(crate) use source::read_source;
pub use source::{Source, SourceType, SourceTypeError};
pub use subnet::{Cidr, CidrError, Subnet, SubnetType};
pub use timestamp::{Timestamp, TimestampError};
#[cfg(feature = "topology")]
pub use topology::{LinkEnd, NodePosition, TopologyLayout, TopologyLink};
pub(crate) use value::{Form, MAX_TEXT};
