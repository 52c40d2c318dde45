use std::collections::BTreeMap;

use uuid::Uuid;

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

    pub(super) fn get(&self, number: PartitionId) -> Option<&Partition> {
        self.all.get(number as usize)
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
