//! The common properties of the parts of a host: interfaces, ports, services and interface entries.

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::{
    Host, HostId, IfEntry, IfEntryId, Interface, InterfaceId, NetworkId, Port, PortId, Record, RecordId,
    Service, ServiceId, Timestamp,
};

/// When reports last showed a record, and whether they still do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Age {
    pub(crate) last_seen_at: Option<Timestamp>,
    pub(crate) is_stale: bool,
}

/// The fields that every part has. The id is one of the part's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Common {
    pub(crate) id: Uuid,
    pub(crate) host_id: HostId,
    pub(crate) network_id: NetworkId,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) age: Age,
}

/// A part of a host. The inventory and discovery each have a trait of their own with their rules for parts.
pub trait HostPart:
    Record + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The ids of the parts.
    type Id: RecordId;

    /// The host's field with the parts of this kind.
    const LIST: &'static str;

    /// Returns the host's parts of this kind.
    fn list(host: &Host) -> &[Self];

    /// Returns the host's parts of this kind, to be changed.
    fn list_mut(host: &mut Host) -> &mut Vec<Self>;

    /// Returns the fields that every part has.
    fn common(&self) -> Common;

    /// Sets the fields that every part has.
    fn set_common(&mut self, common: Common);

    /// Returns the part as one of a host.
    #[must_use]
    fn on_host(mut self, host_id: HostId, network_id: NetworkId) -> Self {
        self.set_common(Common { host_id, network_id, ..self.common() });
        self
    }
}

/// Implements [`HostPart`] for a kind of part with these ids, which is in this list of the host.
macro_rules! host_part {
    ($part:ident($id:ident) in $list:ident) => {
        impl HostPart for $part {
            type Id = $id;

            const LIST: &'static str = stringify!($list);

            fn list(host: &Host) -> &[Self] {
                &host.$list
            }

            fn list_mut(host: &mut Host) -> &mut Vec<Self> {
                &mut host.$list
            }

            fn common(&self) -> Common {
                let Self { id, host_id, network_id, created_at, updated_at, .. } = *self;
                let age = Age { last_seen_at: self.last_seen_at, is_stale: self.is_stale };
                Common { id: id.uuid(), host_id, network_id, created_at, updated_at, age }
            }

            fn set_common(&mut self, common: Common) {
                (self.id, self.host_id, self.network_id) =
                    (common.id.into(), common.host_id, common.network_id);
                (self.created_at, self.updated_at) = (common.created_at, common.updated_at);
                (self.last_seen_at, self.is_stale) = (common.age.last_seen_at, common.age.is_stale);
            }
        }
    };
}

host_part!(Interface(InterfaceId) in interfaces);
host_part!(Port(PortId) in ports);
host_part!(Service(ServiceId) in services);
host_part!(IfEntry(IfEntryId) in if_entries);

/// Evaluates an expression for each kind of part: `for_each_part_type!(P => check_owner::<P>(host)?)`.
macro_rules! for_each_part_type {
    ($part:ident => $run:expr) => {
        $crate::model::for_each_part_type!($part => $run; Interface, Port, Service, IfEntry)
    };
    ($part:ident => $run:expr; $($kind:ident),*) => {
        $({
            type $part = $crate::model::$kind;
            $run;
        })*
    };
}

pub(crate) use for_each_part_type;

/// Returns the ids of all parts of a host.
pub(crate) fn part_ids(host: &Host) -> Vec<Uuid> {
    let mut ids = Vec::new();
    for_each_part_type!(P => ids.extend(P::list(host).iter().map(|part| part.id.uuid())));
    ids
}
