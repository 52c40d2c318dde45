use std::collections::BTreeMap;

use uuid::Uuid;

/// To which network and organization a record belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Partition {
    // Before the organization, for the sake of the order.
    pub(super) network: Option<Uuid>,
    pub(super) organization: Option<Uuid>,
}

/// The number of a partition.
pub(super) type PartitionId = u32;

/// The partitions that were met, numbered.
#[derive(Clone, Debug, Default)]
pub(super) struct Partitions {
    all: Vec<Partition>,
    /// Sorted, so that those of one network are found together.
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

    /// The id of the network as a sort key; empty when there is none.
    pub(super) fn network_sort_key(&self, number: PartitionId) -> &[u8] {
        self.get(number).and_then(|partition| partition.network.as_ref()).map_or(&[], |id| id.as_bytes())
    }

    /// Those of a network in this organization (`None`: in any, and in none).
    pub(super) fn on(
        &self,
        network: Uuid,
        organization: Option<Uuid>,
    ) -> impl Iterator<Item = Partition> + '_ {
        let of = |organization| Partition { network: Some(network), organization };
        // No organization comes before all organizations, so where any will do, the range begins with it.
        let last = organization.unwrap_or(Uuid::max());
        self.numbers.range(of(organization)..=of(Some(last))).map(|(partition, _)| *partition)
    }
}
