//! Every order and direction, with every offset, cursor and subset of networks.

use std::sync::Arc;

use tokio::task::JoinSet;
use uuid::Uuid;

use crate::store::{
    Batch, Direction, Facets, Link, LinkFilter, Name, Order, Page, Precondition, Query, Record, SortKey,
    Start,
};
use crate::testing::{Fault, Fixture, GROUP, Model, OWNER, Outcome, RANK, Random, expect_equal, of};

crate::testing::table! { of "list":
    "The list is ordered by the terms of [`Query::order`], the first term first" =>
        pages_with_network_filters_match_sorted_model,
        pages_with_link_filters_match_sorted_model;
}

const RECORDS: usize = 60;
const SIZE: Name = Name::new("size");
const LIMITS: [Option<usize>; 4] = [Some(1), Some(2), Some(7), None];
const RANKS: [&[u8]; 8] = [b"", b"\0", b"a", b"a\0", b"ab", b"\x7f", b"\x80", b"\xff"];
const GROUPS: [&[u8]; 4] = [b"", b"x", b"xy", b"y"];
const SIZES: [&[u8]; 3] = [b"\0\0\0\x01", b"\0\0\0\x02", b"\0\0\x01\0"];

struct Dataset {
    fixture: Fixture,
    model: Model,
    organization: Uuid,
    networks: [Uuid; 4],
    targets: [Uuid; 3],
}

async fn pages_with_network_filters_match_sorted_model(fixture: Fixture) -> Outcome {
    let dataset = Dataset::new(fixture).await?;
    let mut queries = Vec::new();
    for networks in dataset.network_filters() {
        for organization in [None, Some(dataset.organization)] {
            queries.push(Query { networks: networks.clone(), organization, ..dataset.fixture.query() });
        }
    }
    dataset.expect_all_match(queries).await
}

async fn pages_with_link_filters_match_sorted_model(fixture: Fixture) -> Outcome {
    let dataset = Dataset::new(fixture).await?;
    let [one, two, _] = dataset.targets;
    let filter = |targets: &[Uuid]| LinkFilter { relation: OWNER, targets: targets.to_vec() };
    let choices = [vec![filter(&[one])], vec![filter(&[one, two])], vec![filter(&[one]), filter(&[two])]];
    let mut queries = Vec::new();
    for networks in [None, Some(dataset.networks.iter().copied().skip(1).collect::<Vec<_>>())] {
        for links in choices.clone() {
            queries.push(Query { networks: networks.clone(), links, ..dataset.fixture.query() });
        }
    }
    dataset.expect_all_match(queries).await
}

impl Dataset {
    async fn new(mut fixture: Fixture) -> Outcome<Self> {
        let [organization] = fixture.ids();
        let (networks, targets) = (fixture.ids(), fixture.ids());
        let mut batch = Batch::new();
        for _ in 0..RECORDS {
            let facets = facets(&mut fixture.random, organization, &networks, &targets);
            batch.put(fixture.key(), Precondition::Absent, facets, "record");
        }
        fixture.store.commit(batch.clone()).await?;
        let mut model = Model::default();
        model.apply(&batch, &fixture.versions(&batch).await?);
        Ok(Self { fixture, model, organization, networks, targets })
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
    async fn expect_all_match(self, queries: Vec<Query>) -> Outcome {
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

    async fn expect_match(&self, query: &Query) -> Outcome {
        for order in orders() {
            let query = Query { order, ..query.clone() };
            let sorted = self.model.list(&query).map_err(|_| Fault::new("the query is invalid"))?.records;
            for limit in LIMITS {
                self.expect_offsets_match(&query, limit, &sorted).await?;
                self.expect_cursors_match(&query, limit, &sorted).await?;
            }
        }
        Ok(())
    }

    async fn expect_offsets_match(&self, query: &Query, limit: Option<usize>, sorted: &[Record]) -> Outcome {
        let step = limit.unwrap_or(sorted.len() / 2 + 1);
        for offset in (0..=sorted.len() + 1).step_by(step) {
            self.expect_page_matches(query, Start::Offset(offset as u64), limit, (sorted, offset)).await?;
        }
        Ok(())
    }

    async fn expect_cursors_match(&self, query: &Query, limit: Option<usize>, sorted: &[Record]) -> Outcome {
        let (mut start, mut offset) = (Start::Offset(0), 0);
        while let Some(next) = self.expect_page_matches(query, start, limit, (sorted, offset)).await?.next {
            start = Start::After(next);
            offset += limit.unwrap_or(sorted.len());
        }
        Ok(())
    }

    /// Checks that a page is the part of the sorted list that starts at an offset.
    async fn expect_page_matches(
        &self,
        query: &Query,
        start: Start,
        limit: Option<usize>,
        (sorted, offset): (&[Record], usize),
    ) -> Outcome<Page> {
        let query = Query { start, limit, ..query.clone() };
        let page = self.fixture.store.list(&query).await?;
        let limit = limit.unwrap_or(usize::MAX);
        let expected: Vec<&Record> = sorted.iter().skip(offset).take(limit).collect();
        let more = !expected.is_empty() && offset.saturating_add(limit) < sorted.len();
        if page.records.iter().ne(expected.iter().copied()) {
            let (found, expected) = (ids(&page.records), ids(expected));
            expect_equal(&format!("the ids at offset {offset} of {query:?}"), &found, &expected)?;
            return Err(Fault::new(format!("versions or bodies differ at offset {offset} of {query:?}")));
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

/// Returns no order, each sort key alone, and each after the group, with all terms in both directions.
fn orders() -> Vec<Vec<Order>> {
    let both = [Direction::Ascending, Direction::Descending];
    let terms = |name| both.map(|direction| Order::new(name, direction));
    let singles = [RANK, SIZE, GROUP].into_iter().flat_map(terms);
    let grouped = [RANK, SIZE].into_iter().flat_map(terms);
    let pairs = terms(GROUP).into_iter().flat_map(|group| grouped.clone().map(move |term| vec![group, term]));
    [vec![]].into_iter().chain(singles.map(|term| vec![term])).chain(pairs).collect()
}

/// Returns random facets with few distinct values, so that most records tie with others.
fn facets(random: &mut Random, organization: Uuid, networks: &[Uuid], targets: &[Uuid]) -> Facets {
    let organization = random.chance(70).then_some(organization);
    let network = random.chance(85).then(|| random.pick(networks)).flatten();
    let mut facets = of(organization, network);
    facets.links = targets.iter().filter(|_| random.chance(40)).map(|id| Link::new(OWNER, *id)).collect();
    for (name, values) in [(RANK, &RANKS[..]), (GROUP, &GROUPS), (SIZE, &SIZES)] {
        let value = random.chance(80).then(|| random.pick(values)).flatten();
        facets.sort_keys.extend(value.map(|value| SortKey::new(name, value)));
    }
    facets
}
