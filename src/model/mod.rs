//! The records of the API as plain typed values.
//!
//! The serde implementations define the JSON form of each record. Serialization writes every field; absent values are
//! `null`, never omitted. Deserialization is lenient: nullable fields and the lists of hosts and services may be
//! missing, and unknown fields are ignored. Duplicate fields are rejected.
//!
//! The types validate what can be checked within one record. They do not know whether referenced records exist or
//! which organization owns them.

mod api_key;
mod binding;
mod construct;
mod host;
mod if_entry;
mod interface;
mod mac;
mod order;
mod organization;
mod port;
mod port_type;
pub mod referral_source;
mod service;
mod service_definition;
mod share;
mod source;
mod timestamp;
mod user;

pub use api_key::{DaemonApiKey, UserApiKey};
pub use binding::{Binding, BindingTarget};
pub(crate) use construct::derived_id;
pub use host::{CredentialAssignment, Host, HostVirtualization, ProxmoxVirtualization};
pub use if_entry::{
    AdminStatus, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, Neighbor,
    OperStatus,
};
pub use interface::Interface;
pub use mac::{MacAddress, MacAddressError};
pub use order::{HostOrderField, HostOrderFieldError, OrderDirection, OrderDirectionError};
pub use organization::{Network, Organization, Tag};
pub use port::{Port, PortNumber, PortNumberError, Protocol};
pub use service::{DockerVirtualization, Service, ServiceVirtualization};
pub use service_definition::{ServiceDefinition, ServiceDefinitionError};
pub use share::{Share, ShareMetadata, ShareOptions};
pub use source::Source;
pub use timestamp::{Timestamp, TimestampError};
pub use user::{Permission, Referral, Session, User};
