//! The ids of records, with a type for each kind.
//!
//! So an id of one kind cannot be used where an id of another kind belongs.

use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// An id of one kind of record.
pub trait RecordId:
    Copy
    + Ord
    + Hash
    + fmt::Debug
    + fmt::Display
    + FromStr
    + Serialize
    + DeserializeOwned
    + From<Uuid>
    + Into<Uuid>
    + Send
    + Sync
    + 'static
{
}

/// Replaces ids in code that treats all kinds alike.
pub(crate) trait UuidMut {
    fn uuid_mut(&mut self) -> &mut Uuid;
}

/// Defines types of ids, each with an article and the name of the kind that it identifies.
macro_rules! ids {
    ($($name:ident: $kind:literal;)*) => {$(
        #[doc = concat!("The id of ", $kind, ".")]
        ///
        /// It is a UUID, and has the form of one in JSON, as text and in schemas. Ids of other kinds have types of
        /// their own; conversions lead through [`Uuid`].
        ///
        /// ```
        #[doc = concat!("use toposcope::model::", stringify!($name), ";")]
        /// use uuid::Uuid;
        ///
        #[doc = concat!("let id: ", stringify!($name), " = \"8476cd6d-34bc-5725-8e5b-3c2adcf38402\".parse()?;")]
        /// assert_eq!(id.to_string(), "8476cd6d-34bc-5725-8e5b-3c2adcf38402");
        #[doc = concat!("assert_eq!(", stringify!($name), "::from(id.uuid()), id);")]
        /// # Ok::<(), uuid::Error>(())
        /// ```
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Creates an id from its UUID.
            #[must_use]
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// Creates an id from the number whose bytes, the most significant first, are those of the UUID.
            #[must_use]
            pub const fn from_u128(number: u128) -> Self {
                Self(Uuid::from_u128(number))
            }

            /// Returns the id that stands for none, of which all bytes are zero.
            #[must_use]
            pub const fn nil() -> Self {
                Self(Uuid::nil())
            }

            /// Returns whether the id is the [nil](Self::nil) one.
            #[must_use]
            pub const fn is_nil(&self) -> bool {
                self.0.is_nil()
            }

            /// Returns the UUID.
            #[must_use]
            pub const fn uuid(self) -> Uuid {
                self.0
            }

            /// Returns the number that [`from_u128`](Self::from_u128) takes.
            #[must_use]
            pub const fn as_u128(&self) -> u128 {
                self.0.as_u128()
            }

            /// Returns the bytes of the UUID.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl RecordId for $name {}

        impl UuidMut for $name {
            fn uuid_mut(&mut self) -> &mut Uuid {
                &mut self.0
            }
        }

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, formatter)
            }
        }

        /// The schema is that of a UUID, under the same name.
        #[cfg(feature = "openapi")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                Uuid::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                Uuid::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                Uuid::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                Uuid::json_schema(generator)
            }
        }
    )*};
}

ids! {
    AddressReservationId: "the reservation of an address";
    ApplicationRecordId: "a record of the host application";
    BindingId: "a binding of a service";
    CredentialId: "a credential, which another system keeps";
    DaemonApiKeyId: "a daemon's API key";
    DaemonId: "a discovery daemon";
    DiscoveryId: "a discovery, which daemons name as the session of their work";
    HostId: "a host";
    IfEntryId: "an entry of a host's interface table";
    InterfaceId: "an interface of a host";
    LinkId: "a link of a topology, or an edge of a graph";
    NetworkId: "a network";
    NodeId: "a node of a graph";
    OrganizationId: "an organization";
    PortId: "a port of a host";
    ReferralId: "a referral";
    ServiceId: "a service of a host";
    LoginSessionId: "a login session";
    ShareId: "a share";
    SubnetId: "a subnet";
    TagId: "a tag";
    TopologyLinkId: "a link that a user has entered";
    UserApiKeyId: "a user's API key";
    UserId: "a user";
}

/// Makes ids of records ids of the nodes that stand for the records.
macro_rules! nodes {
    ($($record:ident),*) => {$(
        impl From<$record> for NodeId {
            fn from(id: $record) -> Self {
                Self(id.0)
            }
        }
    )*};
}

nodes!(HostId, ServiceId, SubnetId);

/// Returns the UUIDs of ids.
pub(crate) fn uuids<I: RecordId>(ids: &[I]) -> Vec<Uuid> {
    ids.iter().map(|id| (*id).into()).collect()
}
