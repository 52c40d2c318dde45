//! Every order in every direction, from every offset and every cursor, of every choice of networks.

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

struct Scene {
    fixture: Fixture,
    model: Model,
    organization: Uuid,
    networks: [Uuid; 4],
    targets: [Uuid; 3],
}

async fn pages_with_network_filters_match_sorted_model(fixture: Fixture) -> Outcome {
    let scene = Scene::new(fixture).await?;
    let mut queries = Vec::new();
    for networks in scene.choices_of_networks() {
        for organization in [None, Some(scene.organization)] {
            queries.push(Query { networks: networks.clone(), organization, ..scene.fixture.query() });
        }
    }
    scene.agrees_on_all(queries).await
}

async fn pages_with_link_filters_match_sorted_model(fixture: Fixture) -> Outcome {
    let scene = Scene::new(fixture).await?;
    let [one, two, _] = scene.targets;
    let filter = |targets: &[Uuid]| LinkFilter { relation: OWNER, targets: targets.to_vec() };
    let choices = [vec![filter(&[one])], vec![filter(&[one, two])], vec![filter(&[one]), filter(&[two])]];
    let mut queries = Vec::new();
    for networks in [None, Some(scene.networks.iter().copied().skip(1).collect::<Vec<_>>())] {
        for links in choices.clone() {
            queries.push(Query { networks: networks.clone(), links, ..scene.fixture.query() });
        }
    }
    scene.agrees_on_all(queries).await
}

impl Scene {
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

    /// All subsets of the networks, the empty one too, and no filter at all.
    fn choices_of_networks(&self) -> Vec<Option<Vec<Uuid>>> {
        let chosen = |choice: usize| {
            let networks = self.networks.iter().enumerate();
            networks.filter(|(place, _)| choice >> place & 1 == 1).map(|(_, network)| *network).collect()
        };
        (0..16).map(|choice| Some(chosen(choice))).chain([None]).collect()
    }

    /// All at the same time: one after the other, a store across a network takes minutes.
    async fn agrees_on_all(self, queries: Vec<Query>) -> Outcome {
        let scene = Arc::new(self);
        let mut running = JoinSet::new();
        for query in queries {
            let scene = scene.clone();
            running.spawn(async move { scene.agrees(&query).await });
        }
        while let Some(outcome) = running.join_next().await {
            outcome??;
        }
        Ok(())
    }

    async fn agrees(&self, query: &Query) -> Outcome {
        for order in orders() {
            let query = Query { order, ..query.clone() };
            let sorted = self.model.list(&query).map_err(|_| Fault::new("the query is invalid"))?.records;
            for limit in LIMITS {
                self.offsets_agree(&query, limit, &sorted).await?;
                self.cursors_agree(&query, limit, &sorted).await?;
            }
        }
        Ok(())
    }

    async fn offsets_agree(&self, query: &Query, limit: Option<usize>, sorted: &[Record]) -> Outcome {
        let step = limit.unwrap_or(sorted.len() / 2 + 1);
        for offset in (0..=sorted.len() + 1).step_by(step) {
            self.page_agrees(query, Start::Offset(offset as u64), limit, (sorted, offset)).await?;
        }
        Ok(())
    }

    async fn cursors_agree(&self, query: &Query, limit: Option<usize>, sorted: &[Record]) -> Outcome {
        let (mut start, mut offset) = (Start::Offset(0), 0);
        while let Some(next) = self.page_agrees(query, start, limit, (sorted, offset)).await?.next {
            start = Start::After(next);
            offset += limit.unwrap_or(sorted.len());
        }
        Ok(())
    }

    /// That a page is the part of the sorted list that begins at an offset.
    async fn page_agrees(
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

/// None, each sort key, and each below the group; each of their terms in both directions.
fn orders() -> Vec<Vec<Order>> {
    let both = [Direction::Ascending, Direction::Descending];
    let terms = |name| both.map(|direction| Order::new(name, direction));
    let singles = [RANK, SIZE, GROUP].into_iter().flat_map(terms);
    let grouped = [RANK, SIZE].into_iter().flat_map(terms);
    let pairs = terms(GROUP).into_iter().flat_map(|group| grouped.clone().map(move |term| vec![group, term]));
    [vec![]].into_iter().chain(singles.map(|term| vec![term])).chain(pairs).collect()
}

/// Of few values, so that most records tie with others.
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
