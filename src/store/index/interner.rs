//! The numbers of names and of partitions, which rows hold in their place.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::invariant::Invariant;
use crate::store::Name;

/// The number of a [`Name`], used in packed rows and as map keys.
pub(super) type NameId = u16;

/// Numbers names. There are about a dozen, so a linear scan is faster than a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Interner(Vec<Name>);

impl Interner {
    pub(super) fn find(&self, name: Name) -> Option<NameId> {
        self.0.iter().position(|known| *known == name).and_then(|place| NameId::try_from(place).ok())
    }

    /// Returns the name of a number, which this interner must have assigned.
    pub(super) fn name(&self, id: NameId) -> Option<Name> {
        self.0.get(usize::from(id)).copied().asserted()
    }

    /// Returns whether this many more names can be numbered.
    pub(super) fn has_room_for(&self, more: usize) -> bool {
        self.0.len() + more <= usize::from(NameId::MAX)
    }

    /// Returns the number of a name, and assigns one to a new name. `None` after 65,535 names.
    pub(super) fn intern(&mut self, name: Name) -> Option<NameId> {
        self.find(name).or_else(|| {
            let id = NameId::try_from(self.0.len()).ok()?;
            self.0.push(name);
            Some(id)
        })
    }
}

/// The network and organization of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Partition {
    // First, because partitions are sorted by network.
    pub(super) network: Option<Uuid>,
    pub(super) organization: Option<Uuid>,
}

/// The number of a partition.
pub(super) type PartitionId = u32;

/// Numbers partitions.
#[derive(Clone, Debug, Default)]
pub(super) struct Partitions {
    all: Vec<Partition>,
    /// Sorted, so that the partitions of one network are adjacent.
    numbers: BTreeMap<Partition, PartitionId>,
}

impl Partitions {
    pub(super) fn number(&mut self, partition: Partition) -> PartitionId {
        *self.numbers.entry(partition).or_insert_with(|| {
            self.all.push(partition);
            (self.all.len() - 1) as PartitionId
        })
    }

    /// Returns the partition of a number, which must have been assigned here.
    pub(super) fn get(&self, number: PartitionId) -> Option<&Partition> {
        self.all.get(number as usize).asserted()
    }

    /// Returns the id of the network as a sort key; empty without a network.
    pub(super) fn network_sort_key(&self, number: PartitionId) -> &[u8] {
        self.get(number).and_then(|partition| partition.network.as_ref()).map_or(&[], |id| id.as_bytes())
    }

    /// Returns the partitions of a network in an organization; `None` means any or none.
    pub(super) fn on(
        &self,
        network: Uuid,
        organization: Option<Uuid>,
    ) -> impl Iterator<Item = Partition> + '_ {
        let of = |organization| Partition { network: Some(network), organization };
        // `None` sorts before all organizations, so a range over any organization starts with it.
        let last = organization.unwrap_or(Uuid::max());
        self.numbers.range(of(organization)..=of(Some(last))).map(|(partition, _)| *partition)
    }
}
