//! Lists of many records while these change: a store that caches long lists must not mix states.

use bytes::Bytes;
use uuid::Uuid;

use super::run_concurrently;
use crate::store::{
    Batch, Direction, Facets, Key, Link, LinkFilter, Order, Precondition, Query, SortKey, Start, Store,
};
use crate::testing::{Fault, Fixture, GROUP, Outcome, RANK, Random, expect_equal};

crate::testing::table! { of "list":
    "Records and total are from one state" =>
        long_lists_are_consistent_while_records_change_places;
}

const RECORDS: u32 = 4_500;
const GROUPS: u32 = 7;
const SWAPS: usize = 60;
const READS: usize = 4;
const READERS: usize = 2;

/// The records of one organization on two networks, all with the same link and each with a distinct rank.
#[derive(Clone)]
struct Ranked {
    keys: Vec<Key>,
    organization: Uuid,
    networks: [Uuid; 2],
    link: Link,
}

async fn long_lists_are_consistent_while_records_change_places(mut fixture: Fixture) -> Outcome {
    let keys = (0..RECORDS).map(|_| fixture.key()).collect();
    let with_rank =
        Ranked { keys, organization: fixture.random.uuid(), networks: fixture.ids(), link: fixture.link() };
    let numbers: Vec<u32> = (0..RECORDS).collect();
    for numbers in numbers.chunks(500) {
        let mut batch = Batch::new();
        numbers.iter().for_each(|number| with_rank.put(&mut batch, *number, *number));
        fixture.store.commit(batch).await?;
    }
    let (store, kind, seed) = (fixture.store.clone(), fixture.kind, fixture.random.draw());
    let tasks = run_concurrently(READERS + 1, move |number| {
        let (store, with_rank, random) =
            (store.clone(), with_rank.clone(), Random::new(seed ^ number as u64));
        async move {
            if number == 0 {
                with_rank.swap(&*store, random).await
            } else {
                with_rank.watch(&*store, Query::new(kind), random).await
            }
        }
    });
    tasks.await?.into_iter().collect()
}

impl Ranked {
    fn put(&self, batch: &mut Batch, number: u32, rank: u32) {
        let Some(key) = self.keys.get(number as usize) else { return };
        let [even, odd] = self.networks;
        let (group, rank_key) = ((rank % GROUPS).to_be_bytes(), rank.to_be_bytes());
        let facets = Facets {
            organization: Some(self.organization),
            network: Some(if number.is_multiple_of(2) { even } else { odd }),
            links: vec![self.link],
            sort_keys: vec![SortKey::new(GROUP, group), SortKey::new(RANK, rank_key)],
            ..Facets::default()
        };
        batch.put(*key, Precondition::Any, facets, Bytes::copy_from_slice(&rank_key));
    }

    /// Swaps the ranks of two random records repeatedly.
    async fn swap(&self, store: &dyn Store, mut random: Random) -> Outcome {
        let mut ranks: Vec<u32> = (0..RECORDS).collect();
        for _ in 0..SWAPS {
            let places = [(); 2].map(|()| random.below(u64::from(RECORDS)) as usize);
            let [one, two] = places;
            ranks.swap(one, two);
            let mut batch = Batch::new();
            // Two writes of one record would be invalid.
            for place in places.iter().take(if one == two { 1 } else { 2 }) {
                let rank = ranks.get(*place).copied().unwrap_or_default();
                self.put(&mut batch, *place as u32, rank);
            }
            store.commit(batch).await?;
        }
        Ok(())
    }

    /// Reads lists whose order no single sort key provides.
    async fn watch(&self, store: &dyn Store, query: Query, mut random: Random) -> Outcome {
        let filter = LinkFilter { relation: self.link.relation, targets: vec![self.link.target] };
        for read in 0..READS {
            let mut query = Query { organization: Some(self.organization), ..query.clone() };
            let direction = if read % 2 == 0 { Direction::Ascending } else { Direction::Descending };
            query.order = vec![Order::new(GROUP, direction), Order::new(RANK, Direction::Descending)];
            match random.below(3) {
                0 => query.links = vec![filter.clone()],
                1 => query.networks = Some(self.networks.to_vec()),
                _ => query.order = vec![Order::new(RANK, direction)],
            }
            if query.order.len() == 1 {
                query.links = vec![filter.clone()];
            }
            let from = random.below(u64::from(RECORDS));
            query.start = Start::Offset(from);
            let page = store.list(&query).await?;
            expect_equal("the total of a long list", &page.total, &u64::from(RECORDS))?;
            let mut expected: Vec<u32> = (0..RECORDS).collect();
            expected.sort_by_key(|rank| place(*rank, &query.order));
            let expected: Vec<u32> = expected.into_iter().skip(from as usize).collect();
            let ranks: Result<Vec<u32>, Fault> =
                page.records.iter().map(|record| read_rank(&record.body)).collect();
            expect_equal("whether the ranks are in order", &(ranks? == expected), &true)?;
        }
        Ok(())
    }
}

/// Returns the sort position of a rank.
fn place(rank: u32, order: &[Order]) -> (i64, i64) {
    let directed = |value: u32, direction| match direction {
        Direction::Ascending => i64::from(value),
        Direction::Descending => -i64::from(value),
    };
    match order {
        [group, by] => (directed(rank % GROUPS, group.direction), directed(rank, by.direction)),
        [by] => (directed(rank, by.direction), 0),
        _ => (0, 0),
    }
}

fn read_rank(body: &[u8]) -> Outcome<u32> {
    let bytes = body
        .first_chunk()
        .ok_or_else(|| Fault::new("a body differs from the one that was put".to_owned()))?;
    Ok(u32::from_be_bytes(*bytes))
}
