//! Random records, writes and queries, of so few values that collisions are frequent.

use std::collections::BTreeMap;

use bytes::Bytes;
use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{
    Cursor, Direction, Facets, Guard, Key, KeyFilter, Link, LinkFilter, Name, Order, Precondition, Query,
    SortKey, Start, Term, TermFilter, TermRange, UniqueKey, Version, Write,
};

const KINDS: [Name; 2] = [Name::new("host"), Name::new("note")];
const RELATIONS: [Name; 2] = [Name::new("tag"), Name::new("owner")];
const TERMS: [Name; 2] = [Name::new("word"), Name::new("tag")];
const UNIQUE_KEYS: [Name; 2] = [Name::new("port"), Name::new("address")];
const SORTS: [Name; 5] =
    [Name::new("name"), Name::new("time"), Name::new("place"), Name::new("weight"), Name::new("never")];

/// The contents of an index, from which it is loaded.
pub(super) type Model = BTreeMap<Key, (Version, Facets)>;

pub(super) fn put(key: Key, facets: Facets) -> Write {
    Write::Put { key, precondition: Precondition::Any, facets, body: Bytes::new() }
}

/// A source of random records, writes and queries.
#[derive(Debug)]
pub(super) struct Random(fastrand::Rng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0.usize(..bound)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Returns one of `of` ids, spread over all first bytes.
    fn id(&mut self, of: usize) -> Uuid {
        let number = self.below(of) as u64;
        Uuid::from_u64_pair(number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number)
    }

    fn time(&mut self) -> Timestamp {
        Timestamp::UNIX_EPOCH.plus_micros(self.below(50) as i64)
    }

    pub(super) fn key(&mut self, records: usize) -> Key {
        Key::new(self.pick(&KINDS), self.id(records))
    }

    /// Returns a key that may end early, end in zeros, or contain a term. Such keys differ early, late or never.
    fn sort_key(&mut self) -> Vec<u8> {
        let beginning: &[u8] = self.pick(&[
            &b""[..],
            b"a",
            b"corner",
            b"sixteen bytes are",
            b"a beginning of thirty-three bytes",
        ]);
        let end = match self.below(4) {
            0 => Vec::new(),
            1 => vec![0; self.below(20)],
            2 => vec![self.below(256) as u8; self.below(40)],
            _ => (self.below(1_000_000) as u64).to_be_bytes().to_vec(),
        };
        [beginning, &end].concat()
    }

    fn unique_key(&mut self, records: usize) -> UniqueKey {
        UniqueKey::new(self.pick(&UNIQUE_KEYS), self.id(4 * records).as_bytes().as_slice())
    }

    fn link(&mut self) -> Link {
        Link::new(self.pick(&RELATIONS), self.id(30))
    }

    /// Returns one of few values, so that some become common.
    fn term(&mut self) -> Vec<u8> {
        let mut word = self.pick(&[&b""[..], b"core", b"corner", b"edge"]).to_vec();
        word.extend((0..self.below(3)).map(|_| self.below(4) as u8));
        word
    }

    fn range(&mut self) -> TermRange {
        match self.below(4) {
            0 => TermRange::exact(self.term()),
            1 => TermRange::prefix(self.term()),
            2 => TermRange::between(self.term(), self.term()),
            _ => TermRange::new(self.term(), None),
        }
    }

    pub(super) fn facets(&mut self, records: usize) -> Facets {
        let names = &SORTS[..4];
        let sort_keys = names.iter().filter_map(|name| {
            let key = self.sort_key();
            if self.chance(80) { Some(SortKey::new(*name, key)) } else { None }
        });
        Facets {
            sort_keys: sort_keys.collect(),
            organization: if self.chance(90) { Some(self.id(2)) } else { None },
            network: if self.chance(90) { Some(self.id(5)) } else { None },
            expires_at: if self.chance(20) { Some(self.time()) } else { None },
            links: (0..self.below(4)).map(|_| self.link()).collect(),
            terms: (0..self.below(6)).map(|_| Term::new(self.pick(&TERMS), self.term())).collect(),
            unique_keys: (0..self.below(4)).map(|_| self.unique_key(records)).collect(),
        }
    }

    /// Returns puts and deletes of records that may exist or not. An index refuses some of them.
    pub(super) fn writes(&mut self, records: usize) -> Vec<Write> {
        let count = self.below(4) + 1;
        (0..count).map(|_| self.write(records)).collect()
    }

    fn write(&mut self, records: usize) -> Write {
        let key = self.key(records);
        if self.chance(30) {
            Write::Delete { key, precondition: Precondition::Any }
        } else {
            put(key, self.facets(records))
        }
    }

    pub(super) fn guards(&mut self, records: usize, model: &Model) -> Vec<Guard> {
        let organization = if self.chance(70) { Some(self.id(3)) } else { None };
        let key = self.key(records);
        let version = model.get(&key).map(|(version, _)| *version);
        match self.below(5) {
            0 => vec![Guard::Record {
                key,
                precondition: version.map_or(Precondition::Present, Precondition::Version),
            }],
            1 => vec![Guard::UniqueKey { unique_key: self.unique_key(records), holder: None }],
            2 => vec![Guard::LinkedWithin { organization, link: self.link() }],
            3 => {
                let except = if self.chance(70) { Vec::new() } else { vec![self.pick(&KINDS)] };
                vec![Guard::NetworkEmpty { organization, network: self.id(6), except }]
            }
            _ => Vec::new(),
        }
    }

    pub(super) fn query(&mut self, records: usize) -> Query {
        let mut query = Query::new(self.pick(&KINDS));
        query.organization = if self.chance(60) { Some(self.id(3)) } else { None };
        if self.chance(60) {
            query.networks = Some((0..self.below(5)).map(|_| self.id(6)).collect());
        }
        if self.chance(10) {
            query.ids = Some((0..self.below(20)).map(|_| self.id(records)).collect());
        }
        if self.chance(20) {
            let targets: Vec<Uuid> = (0..self.below(4)).map(|_| self.id(30)).collect();
            let relation = self.pick(&RELATIONS);
            query.links.push(if self.chance(60) {
                LinkFilter::new(relation, targets)
            } else {
                LinkFilter::none(relation, targets)
            });
        }
        for _ in 0..self.below(8).saturating_sub(6) {
            let range = match self.below(3) {
                0 => TermRange::exact(self.sort_key()),
                1 => TermRange::prefix(self.sort_key()),
                _ => TermRange::between(self.sort_key(), self.sort_key()),
            };
            query.keys.push(KeyFilter::new(self.pick(&SORTS), range));
        }
        for _ in 0..self.below(5).saturating_sub(2) {
            let ranges: Vec<TermRange> = (0..self.below(4)).map(|_| self.range()).collect();
            query.terms.push(TermFilter::new(self.pick(&TERMS), ranges));
        }
        query.order = self.order();
        let keys = query.order.iter().map(|_| self.sort_key()).collect();
        query.start = if self.chance(50) {
            Start::Offset(self.below(records) as u64)
        } else {
            Start::After(Cursor::new(keys, self.id(records)))
        };
        query.limit = if self.chance(95) { Some(self.below(20)) } else { None };
        query
    }

    fn order(&mut self) -> Vec<Order> {
        let first = self.below(SORTS.len());
        let fields = (0..self.pick(&[0, 1, 1, 1, 2, 3])).map(|field| {
            let direction = self.pick(&[Direction::Ascending, Direction::Descending]);
            Order::new(SORTS[(first + field) % SORTS.len()], direction)
        });
        fields.collect()
    }
}
