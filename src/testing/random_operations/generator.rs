//! Random operations on a few ids, links and keys, so that ties, conflicts and taken unique keys are frequent.

use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{
    Batch, Cursor, Direction, Facets, Guard, Key, Link, LinkFilter, Name, Order, Precondition, Query,
    SortKey, Start, UniqueKey, Version,
};
use crate::testing::{Fixture, GROUP, MAIL, Model, OWNER, PARENT, RANK, Random};

const IDS: u64 = 14;
const OWNERS: u64 = 3;
const MOMENTS: i64 = 8;
const VALUES: [&[u8]; 6] = [b"", b"\0", b"a", b"a\0", b"b", b"\xff"];
const NEVER_PUT: Name = Name::new("never-put");

#[derive(Debug)]
pub(super) struct Generator {
    random: Random,
    salt: u64,
    kinds: [Name; 2],
    first_expiry: Timestamp,
}

impl Generator {
    pub(super) fn new(fixture: &mut Fixture) -> Self {
        let first_expiry = fixture.ancient_time();
        let (random, salt) = (Random::new(fixture.random.draw()), fixture.random.draw());
        Self { random, salt, kinds: [fixture.kind, fixture.other_kind], first_expiry }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// Returns a time at which all expiring records have expired.
    pub(super) fn last_expiry(&self) -> Timestamp {
        self.first_expiry.plus_micros(MOMENTS)
    }

    /// Returns a random time at which some of the expiring records have expired.
    pub(super) fn expiry(&mut self) -> Timestamp {
        let moments: Vec<i64> = (0..MOMENTS).collect();
        self.first_expiry.plus_micros(self.random.pick(&moments).unwrap_or_default())
    }

    pub(super) fn key(&mut self) -> Key {
        let [one, two] = self.kinds;
        Key::new(if self.random.chance(75) { one } else { two }, self.id(IDS))
    }

    pub(super) fn keys(&mut self) -> Vec<Key> {
        (0..self.below(6)).map(|_| self.key()).collect()
    }

    pub(super) fn unique_key(&mut self) -> UniqueKey {
        let name = if self.random.chance(80) { MAIL } else { RANK };
        UniqueKey::new(name, self.id(IDS).as_bytes())
    }

    /// Returns the limit for reading a snapshot: fewer, as many or more records than exist.
    pub(super) fn snapshot_limit(&mut self) -> usize {
        self.random.pick(&[1, 3, 14, 1000]).unwrap_or(1)
    }

    pub(super) fn batch(&mut self, model: &Model) -> Batch {
        let mut batch = Batch::new();
        for _ in 0..self.below(5) {
            let key = self.key();
            let precondition = self.precondition(model, key);
            if self.random.chance(65) {
                let body = self.random.bytes(8);
                batch.put(key, precondition, self.facets(), body);
            } else {
                batch.delete(key, precondition);
            }
        }
        for _ in 0..self.below(8).saturating_sub(5) {
            batch.guard(self.random_guard(model));
        }
        batch
    }

    pub(super) fn query(&mut self) -> Query {
        let order = self.order();
        let filters = self.below(6).saturating_sub(3);
        Query {
            kind: self.key().kind,
            organization: self.random.chance(30).then(|| self.id(OWNERS)),
            networks: self.random.chance(40).then(|| self.ids(OWNERS, 4)),
            ids: self.random.chance(20).then(|| self.ids(IDS, 12)),
            links: (0..filters).map(|_| self.filter()).collect(),
            start: self.start(order.len()),
            order,
            limit: self.random.chance(70).then(|| usize::try_from(self.below(7)).unwrap_or_default()),
        }
    }

    /// Returns one of `ids` ids, which are the same in every call.
    fn id(&mut self, ids: u64) -> Uuid {
        Random::new(self.salt ^ self.below(ids)).uuid()
    }

    fn ids(&mut self, ids: u64, most: u64) -> Vec<Uuid> {
        (0..self.below(most)).map(|_| self.id(ids)).collect()
    }

    fn link(&mut self) -> Link {
        Link::new(if self.random.chance(60) { OWNER } else { PARENT }, self.id(OWNERS))
    }

    fn filter(&mut self) -> LinkFilter {
        LinkFilter { relation: self.link().relation, targets: self.ids(OWNERS, 4) }
    }

    /// Returns a precondition that usually holds, since otherwise hardly any batch would be applied.
    fn precondition(&mut self, model: &Model, key: Key) -> Precondition {
        let version = model.get(key).map(|record| record.version);
        match self.below(20) {
            0..=9 => Precondition::Any,
            10 => Precondition::Absent,
            11 => Precondition::Present,
            12 => Precondition::Version(Version(self.random.draw() >> 1)),
            _ => version.map_or(Precondition::Absent, Precondition::Version),
        }
    }

    fn random_guard(&mut self, model: &Model) -> Guard {
        match self.below(4) {
            0 => {
                let key = self.key();
                Guard::Record { key, precondition: self.precondition(model, key) }
            }
            1 => {
                let unique_key = self.unique_key();
                let holder = if self.random.chance(80) {
                    model.get_by_unique_key(&unique_key).map(|record| record.key)
                } else {
                    Some(self.key())
                };
                Guard::UniqueKey { unique_key, holder }
            }
            2 => Guard::LinkedWithin {
                organization: self.random.chance(50).then(|| self.id(OWNERS)),
                link: self.link(),
            },
            _ => Guard::NetworkEmpty {
                organization: self.random.chance(50).then(|| self.id(OWNERS)),
                network: self.id(OWNERS),
            },
        }
    }

    fn facets(&mut self) -> Facets {
        let (first, second) = (self.unique_key(), self.unique_key());
        let mut unique_keys: Vec<UniqueKey> =
            [first, second].into_iter().filter(|_| self.random.chance(35)).collect();
        unique_keys.dedup();
        let links = self.below(6).saturating_sub(3);
        Facets {
            organization: self.random.chance(60).then(|| self.id(OWNERS)),
            network: self.random.chance(60).then(|| self.id(OWNERS)),
            expires_at: self.random.chance(15).then(|| self.expiry()),
            links: (0..links).map(|_| self.link()).collect(),
            sort_keys: self.sort_keys(),
            unique_keys,
        }
    }

    /// Returns sort keys, in rare cases with a duplicate name, which is invalid.
    fn sort_keys(&mut self) -> Vec<SortKey> {
        let again = if self.random.chance(2) { &[RANK][..] } else { &[] };
        let mut keys = Vec::new();
        for name in [RANK, GROUP].iter().chain(again) {
            let value = self.random.chance(80).then(|| self.value());
            keys.extend(value.map(|value| SortKey::new(*name, value)));
        }
        keys
    }

    /// Returns a value, sometimes the id of an organization or a network.
    fn value(&mut self) -> Vec<u8> {
        if self.random.chance(15) {
            return self.id(OWNERS).as_bytes().to_vec();
        }
        self.random.pick(&VALUES).unwrap_or_default().to_vec()
    }

    /// Returns an order, sometimes with a duplicate name, which is invalid.
    fn order(&mut self) -> Vec<Order> {
        let mut names = [RANK, GROUP, NEVER_PUT];
        self.random.shuffle(&mut names);
        if let ([first, second, _], true) = (&mut names, self.random.chance(4)) {
            *second = *first;
        }
        let terms = usize::try_from(self.below(4)).unwrap_or_default();
        names.into_iter().take(terms).map(|name| Order::new(name, self.direction())).collect()
    }

    fn direction(&mut self) -> Direction {
        if self.random.chance(50) { Direction::Ascending } else { Direction::Descending }
    }

    /// Returns a start, usually with one key per term; any other number is invalid.
    fn start(&mut self, terms: usize) -> Start {
        if self.random.chance(50) {
            return Start::Offset(self.below(IDS));
        }
        let length = if self.random.chance(5) { terms + 1 } else { terms };
        let keys = (0..length).map(|_| self.value()).collect();
        Start::After(Cursor::new(keys, self.id(IDS)))
    }
}
