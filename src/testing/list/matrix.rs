//! Lists in every order and direction, with every offset, cursor and subset of networks. Long lists are also read while
//! records change.

use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::invariant::Invariant;
use crate::store::Precondition::{Absent, Any};
use crate::store::{
    Batch, Direction, Facets, Key, Link, LinkFilter, Name, Order, Page, Query, Record, SortKey, Start, Store,
    Term, TermFilter, TermRange,
};
use crate::testing::{
    CaseOutcome, Fixture, GROUP, OWNER, RANK, ReferenceStore, Violation, WORD, chance, expect_equal, of,
    run_concurrently,
};

crate::testing::table! {
    of "list":
    "The list is ordered by the sort fields of [`Query::order`], the first field first" =>
        pages_with_network_filters_match_reference_store,
        pages_with_link_filters_match_reference_store,
        pages_with_term_filters_match_reference_store;
    "Records and total are from one state" =>
        long_lists_are_consistent_while_records_change_places;
}

const RECORDS: usize = 60;
const SIZE: Name = Name::new("size");
const LIMITS: [Option<usize>; 4] = [Some(1), Some(2), Some(7), None];
const RANKS: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0", b"ab", b"\x7f", b"\x80", b"\xff"];
const GROUPS: [&[u8]; 4] = [b"", b"x", b"xy", b"y"];
const WORDS: [&str; 5] = ["co", "core", "corner", "edge", "switch"];
const SIZES: [&[u8]; 3] = [b"\0\0\0\x01", b"\0\0\0\x02", b"\0\0\x01\0"];

struct Dataset {
    fixture: Fixture,
    reference: ReferenceStore,
    organization: Uuid,
    networks: [Uuid; 4],
    targets: [Uuid; 3],
}

async fn pages_with_network_filters_match_reference_store(fixture: Fixture) -> CaseOutcome {
    let dataset = Dataset::new(fixture).await?;
    let mut queries = Vec::new();
    for networks in dataset.network_filters() {
        for organization in [None, Some(dataset.organization)] {
            queries.push(Query { networks: networks.clone(), organization, ..dataset.fixture.query() });
        }
    }
    dataset.expect_all_match(queries).await
}

async fn pages_with_link_filters_match_reference_store(fixture: Fixture) -> CaseOutcome {
    let dataset = Dataset::new(fixture).await?;
    let [one, two, _] = dataset.targets;
    let filter = |targets: &[Uuid]| LinkFilter::new(OWNER, targets.to_vec());
    let none = |targets: &[Uuid]| LinkFilter::none(OWNER, targets.to_vec());
    let choices = [
        vec![filter(&[one])],
        vec![filter(&[one, two])],
        vec![filter(&[one]), filter(&[two])],
        vec![none(&[one])],
        vec![filter(&[one]), none(&[two])],
    ];
    let mut queries = Vec::new();
    for networks in [None, Some(dataset.networks.iter().copied().skip(1).collect::<Vec<_>>())] {
        for links in choices.clone() {
            queries.push(Query { networks: networks.clone(), links, ..dataset.fixture.query() });
        }
    }
    dataset.expect_all_match(queries).await
}

async fn pages_with_term_filters_match_reference_store(fixture: Fixture) -> CaseOutcome {
    let dataset = Dataset::new(fixture).await?;
    let [one, ..] = dataset.targets;
    let filter = |range| TermFilter::new(WORD, [range]);
    let prefix = filter(TermRange::prefix("co"));
    let choices =
        [vec![filter(TermRange::exact("core"))], vec![prefix.clone(), filter(TermRange::between("d", "z"))]];
    let mut queries = Vec::new();
    for networks in [None, Some(dataset.networks.iter().copied().skip(1).collect::<Vec<_>>())] {
        for organization in [None, Some(dataset.organization)] {
            for terms in choices.clone() {
                let networks = networks.clone();
                queries.push(Query { networks, organization, terms, ..dataset.fixture.query() });
            }
        }
    }
    let (links, terms) = (vec![LinkFilter::new(OWNER, vec![one])], vec![prefix]);
    queries.push(Query { links, terms, ..dataset.fixture.query() });
    dataset.expect_all_match(queries).await
}

impl Dataset {
    async fn new(mut fixture: Fixture) -> CaseOutcome<Self> {
        let [organization] = fixture.ids();
        let (networks, targets) = (fixture.ids(), fixture.ids());
        let mut batch = Batch::new();
        for _ in 0..RECORDS {
            let facets = facets(&mut fixture.random, organization, &networks, &targets);
            batch.put(fixture.key(), Absent, facets, "record");
        }
        fixture.store.commit(batch.clone()).await?;
        let reference = ReferenceStore::default();
        reference.follow(&batch, &fixture.versions(&batch).await?);
        Ok(Self { fixture, reference, organization, networks, targets })
    }

    /// Returns all subsets of the networks, including the empty one, and no filter.
    fn network_filters(&self) -> Vec<Option<Vec<Uuid>>> {
        let chosen = |choice: usize| {
            let networks = self.networks.iter().enumerate();
            networks.filter(|(place, _)| choice >> place & 1 == 1).map(|(_, network)| *network).collect()
        };
        (0..16).map(|choice| Some(chosen(choice))).chain([None]).collect()
    }

    /// Runs the queries concurrently, because a remote store would take minutes otherwise.
    async fn expect_all_match(self, queries: Vec<Query>) -> CaseOutcome {
        let dataset = Arc::new(self);
        let mut running = JoinSet::new();
        for query in queries {
            let dataset = dataset.clone();
            running.spawn(async move { dataset.expect_match(&query).await });
        }
        while let Some(outcome) = running.join_next().await {
            outcome??;
        }
        Ok(())
    }

    async fn expect_match(&self, query: &Query) -> CaseOutcome {
        for order in orders() {
            let query = Query { order, ..query.clone() };
            let sorted = self.reference.list(&query).await?.records;
            for limit in LIMITS {
                self.expect_offsets_match(&query, limit, &sorted).await?;
                self.expect_cursors_match(&query, limit, &sorted).await?;
            }
        }
        Ok(())
    }

    async fn expect_offsets_match(
        &self,
        query: &Query,
        limit: Option<usize>,
        sorted: &[Record],
    ) -> CaseOutcome {
        let step = limit.unwrap_or(sorted.len() / 2 + 1);
        for offset in (0..=sorted.len() + 1).step_by(step) {
            self.expect_page_matches(query, Start::Offset(offset as u64), limit, (sorted, offset)).await?;
        }
        Ok(())
    }

    async fn expect_cursors_match(
        &self,
        query: &Query,
        limit: Option<usize>,
        sorted: &[Record],
    ) -> CaseOutcome {
        let (mut start, mut offset) = (Start::Offset(0), 0);
        while let Some(next) = self.expect_page_matches(query, start, limit, (sorted, offset)).await?.next {
            start = Start::After(next);
            offset += limit.unwrap_or(sorted.len());
        }
        Ok(())
    }

    /// Checks that a page is the part of the sorted list starting at an offset.
    async fn expect_page_matches(
        &self,
        query: &Query,
        start: Start,
        limit: Option<usize>,
        (sorted, offset): (&[Record], usize),
    ) -> CaseOutcome<Page> {
        let query = Query { start, limit, ..query.clone() };
        let page = self.fixture.store.list(&query).await?;
        let limit = limit.unwrap_or(usize::MAX);
        let expected: Vec<&Record> = sorted.iter().skip(offset).take(limit).collect();
        let more = !expected.is_empty() && offset.saturating_add(limit) < sorted.len();
        if page.records.iter().ne(expected.iter().copied()) {
            let (found, expected) = (ids(&page.records), ids(expected));
            expect_equal(&format!("the ids at offset {offset} of {query:?}"), &found, &expected)?;
            return Err(Violation::new(format!("versions or bodies differ at offset {offset} of {query:?}")));
        }
        if page.total != sorted.len() as u64 || page.next.is_some() != more {
            let (found, expected) = ((page.total, page.next.is_some()), (sorted.len() as u64, more));
            expect_equal(
                &format!("the total, and whether more follow, at offset {offset} of {query:?}"),
                &found,
                &expected,
            )?;
        }
        Ok(page)
    }
}

fn ids<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Uuid> {
    records.into_iter().map(|record| record.key.id).collect()
}

/// Returns no order, each sort key alone, and each sort key after the group. Each field occurs in both directions.
fn orders() -> Vec<Vec<Order>> {
    let both = [Direction::Ascending, Direction::Descending];
    let fields = |name| both.map(|direction| Order::new(name, direction));
    let singles = [RANK, SIZE, GROUP].into_iter().flat_map(fields);
    let grouped = [RANK, SIZE].into_iter().flat_map(fields);
    let pairs =
        fields(GROUP).into_iter().flat_map(|group| grouped.clone().map(move |field| vec![group, field]));
    [vec![]].into_iter().chain(singles.map(|field| vec![field])).chain(pairs).collect()
}

/// Returns random facets with few distinct values, so that most records tie with others.
fn facets(random: &mut Rng, organization: Uuid, networks: &[Uuid], targets: &[Uuid]) -> Facets {
    let organization = chance(random, 70).then_some(organization);
    let network = chance(random, 85).then(|| random.choice(networks).copied()).flatten();
    let mut facets = of(organization, network);
    facets.links = targets.iter().filter(|_| chance(random, 40)).map(|id| Link::new(OWNER, *id)).collect();
    let words = WORDS.iter().filter(|_| chance(random, 40));
    facets.terms = words.map(|word| Term::new(WORD, *word)).collect();
    for (name, values) in [(RANK, &RANKS[..]), (GROUP, &GROUPS), (SIZE, &SIZES)] {
        let value = chance(random, 80).then(|| random.choice(values)).flatten();
        facets.sort_keys.extend(value.map(|value| SortKey::new(name, *value)));
    }
    facets
}

const LONG_LIST: u32 = 4_500;
const LONG_GROUPS: u32 = 7;
const SWAPS: usize = 60;
const READS: usize = 4;
const READERS: usize = 2;

/// The records of one organization on two networks, each with a distinct rank. All have the same link and term.
#[derive(Clone)]
struct Ranked {
    keys: Vec<Key>,
    organization: Uuid,
    networks: [Uuid; 2],
    link: Link,
}

async fn long_lists_are_consistent_while_records_change_places(mut fixture: Fixture) -> CaseOutcome {
    let keys = (0..LONG_LIST).map(|_| fixture.key()).collect();
    let with_rank =
        Ranked { keys, organization: fixture.uuid(), networks: fixture.ids(), link: fixture.link() };
    let numbers: Vec<u32> = (0..LONG_LIST).collect();
    for numbers in numbers.chunks(500) {
        let mut batch = Batch::new();
        numbers.iter().for_each(|number| with_rank.put(&mut batch, *number, *number));
        fixture.store.commit(batch).await?;
    }
    let (store, kind, seed) = (fixture.store.clone(), fixture.kind, fixture.random.u64(..));
    let tasks = run_concurrently(READERS + 1, move |number| {
        let (store, with_rank, random) =
            (store.clone(), with_rank.clone(), Rng::with_seed(seed ^ number as u64));
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
        let (group, rank_key) = ((rank % LONG_GROUPS).to_be_bytes(), rank.to_be_bytes());
        let facets = Facets {
            organization: Some(self.organization),
            network: Some(if number.is_multiple_of(2) { even } else { odd }),
            links: vec![self.link],
            terms: vec![Term::new(WORD, "core")],
            sort_keys: vec![SortKey::new(GROUP, group), SortKey::new(RANK, rank_key)],
            ..Facets::default()
        };
        batch.put(*key, Any, facets, Bytes::copy_from_slice(&rank_key));
    }

    /// Swaps the ranks of two random records repeatedly.
    async fn swap(&self, store: &dyn Store, mut random: Rng) -> CaseOutcome {
        let mut ranks: Vec<u32> = (0..LONG_LIST).collect();
        for _ in 0..SWAPS {
            let places = [(); 2].map(|()| random.usize(..LONG_LIST as usize));
            let [one, two] = places;
            ranks.swap(one, two);
            let mut batch = Batch::new();
            // Two writes of one record would be invalid.
            for place in places.iter().take(if one == two { 1 } else { 2 }) {
                let rank = ranks.get(*place).copied().asserted_or_default();
                self.put(&mut batch, *place as u32, rank);
            }
            store.commit(batch).await?;
        }
        Ok(())
    }

    /// Reads lists whose order no single sort key provides.
    async fn watch(&self, store: &dyn Store, query: Query, mut random: Rng) -> CaseOutcome {
        let filter = LinkFilter::new(self.link.relation, vec![self.link.target]);
        for read in 0..READS {
            let mut query = Query { organization: Some(self.organization), ..query.clone() };
            let direction = if read % 2 == 0 { Direction::Ascending } else { Direction::Descending };
            query.order = vec![Order::new(GROUP, direction), Order::new(RANK, Direction::Descending)];
            match random.u8(..4) {
                0 => query.links = vec![filter.clone()],
                3 => query.terms = vec![TermFilter::new(WORD, [TermRange::prefix("co")])],
                1 => query.networks = Some(self.networks.to_vec()),
                _ => query.order = vec![Order::new(RANK, direction)],
            }
            if query.order.len() == 1 {
                query.links = vec![filter.clone()];
            }
            let from = random.u64(..u64::from(LONG_LIST));
            query.start = Start::Offset(from);
            let page = store.list(&query).await?;
            expect_equal("the total of a long list", &page.total, &u64::from(LONG_LIST))?;
            let mut expected: Vec<u32> = (0..LONG_LIST).collect();
            expected.sort_by_key(|rank| place(*rank, &query.order));
            let expected: Vec<u32> = expected.into_iter().skip(from as usize).collect();
            let ranks: Result<Vec<u32>, Violation> =
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
        [group, by] => (directed(rank % LONG_GROUPS, group.direction), directed(rank, by.direction)),
        [by] => (directed(rank, by.direction), 0),
        _ => (0, 0),
    }
}

fn read_rank(body: &[u8]) -> CaseOutcome<u32> {
    let bytes = body
        .first_chunk()
        .ok_or_else(|| Violation::new("a body differs from the one that was put".to_owned()))?;
    Ok(u32::from_be_bytes(*bytes))
}
