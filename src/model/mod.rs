//! The records of the API, and of what stands behind it, as plain typed values.
//!
//! Serde gives each its shape on the wire, both ways. It is written whole: what is absent is `null`, never left out. It
//! is read with some leniency: what may be `null` may be missing, and so may the lists of a host or a service; unknown
//! fields are ignored; a field that stands twice is refused.
//!
//! What a single record can tell about itself is checked by its types. Whether the records it refers to exist, or whose
//! they are, is not known here.

mod binding;
mod daemon_api_key;
mod host;
mod if_entry;
mod interface;
mod lldp;
mod mac;
mod network;
mod order;
mod organization;
mod permission;
mod port;
mod port_type;
mod referral;
pub mod referral_source;
mod service;
mod service_definition;
mod session;
mod share;
mod source;
mod tag;
mod timestamp;
mod user;
mod user_api_key;

pub use binding::{Binding, BindingTarget};
pub use daemon_api_key::DaemonApiKey;
pub use host::{CredentialAssignment, Host, HostVirtualization, ProxmoxVirtualization};
pub use if_entry::{AdminStatus, IfEntry, Neighbor, OperStatus};
pub use interface::Interface;
pub use lldp::{LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype};
pub use mac::{MacAddress, MacAddressError};
pub use network::Network;
pub use order::{HostOrderField, HostOrderFieldError, OrderDirection, OrderDirectionError};
pub use organization::Organization;
pub use permission::Permission;
pub use port::{Port, PortNumber, PortNumberError, Protocol};
pub use referral::Referral;
pub use service::{DockerVirtualization, Service, ServiceVirtualization};
pub use service_definition::{ServiceDefinition, ServiceDefinitionError};
pub use session::Session;
pub use share::{Share, ShareMetadata, ShareOptions};
pub use source::Source;
pub use tag::Tag;
pub use timestamp::{Timestamp, TimestampError};
pub use user::User;
pub use user_api_key::UserApiKey;
