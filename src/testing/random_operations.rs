//! Thousands of random operations on few ids, links and keys. Each result is compared with that of [`ReferenceStore`].

use fastrand::Rng;
use uuid::Uuid;

use crate::invariant::Invariant;
use crate::model::Timestamp;
use crate::store::Precondition::{Absent, Any, Present};
use crate::store::{
    Batch, Cursor, Direction, Facets, Guard, Key, KeyFilter, Link, LinkFilter, Name, Order, Precondition,
    Query, Snapshot, SortKey, Start, Store, StoreError, StoreErrorKind, Term, TermFilter, TermRange,
    UniqueKey, Version, Write,
};
use crate::testing::{
    CHUNK, CaseOutcome, Fixture, GROUP, MAIL, OWNER, PARENT, RANK, ReferenceStore, Violation, WORD, chance,
    expect_equal, random_bytes, random_uuid, read_all,
};

crate::testing::table! {
    of "store":
    "A store holds *records*: a [`Key`], a [`Version`], and a body of bytes that the store never interprets" =>
        random_operations_match_reference_store;
}

const STEPS: usize = 4000;

struct RandomTest {
    fixture: Fixture,
    reference: ReferenceStore,
    generator: Generator,
    newest: Version,
    /// Snapshots of both stores that were opened some steps ago.
    open: Option<(Box<dyn Snapshot>, Box<dyn Snapshot>)>,
}

async fn random_operations_match_reference_store(mut fixture: Fixture) -> CaseOutcome {
    let generator = Generator::new(&mut fixture);
    // Later purges must count only the records of this case.
    fixture.store.purge_expired(generator.last_expiry()).await?;
    let reference = ReferenceStore::default();
    let mut test = RandomTest { fixture, reference, generator, newest: Version(0), open: None };
    for step in 0..STEPS {
        test.step().await.map_err(|fault| fault.within(&format!("at step {step}")))?;
    }
    test.snapshot().await
}

impl RandomTest {
    async fn step(&mut self) -> CaseOutcome {
        match self.generator.below(100) {
            0..=54 => self.commit().await,
            55..=86 => self.list().await,
            87..=91 => self.get().await,
            92 => self.snapshot().await,
            93..=97 => self.get_by_unique_key().await,
            _ => self.purge().await,
        }
    }

    async fn commit(&mut self) -> CaseOutcome {
        let batch = self.generator.batch(&self.reference);
        let violations = self.reference.violations(&batch);
        let result = self.fixture.store.commit(batch.clone()).await;
        match &result {
            Ok(()) if violations.is_empty() => {
                let versions = self.fixture.versions(&batch).await?;
                if let Some(stale) = versions.values().find(|version| **version <= self.newest) {
                    return Err(Violation::new(format!("{stale:?} was assigned after {:?}", self.newest)));
                }
                self.newest = versions.values().max().copied().unwrap_or(self.newest);
                self.reference.follow(&batch, &versions);
            }
            Err(error) if violations.iter().any(|violation| violation.kind() == error.kind()) => {}
            _ => {
                let text = format!(
                    "{batch:?}: expected one of {violations:?}, or Ok if there is none, got {result:?}"
                );
                return Err(Violation::new(text));
            }
        }
        self.expect_records_match(&batch.writes().iter().map(Write::key).collect::<Vec<_>>()).await
    }

    async fn list(&mut self) -> CaseOutcome {
        let query = self.generator.query();
        let page = valid(self.fixture.store.list(&query).await)?;
        expect_equal(&format!("{query:?}"), &page, &valid(self.reference.list(&query).await)?)
    }

    /// Reads the open snapshot and opens the next one.
    async fn snapshot(&mut self) -> CaseOutcome {
        let next = (self.fixture.store.snapshot().await?, self.reference.snapshot().await?);
        let Some((mut snapshot, mut expected)) = self.open.replace(next) else { return Ok(()) };
        let (limit, kinds) = (self.generator.snapshot_limit(), self.fixture.kinds());
        let found = read_all(&mut *snapshot, limit, kinds).await?;
        expect_equal("snapshot", &found, &read_all(&mut *expected, CHUNK, kinds).await?)
    }

    async fn get(&mut self) -> CaseOutcome {
        let keys = self.generator.keys();
        self.expect_records_match(&keys).await
    }

    async fn expect_records_match(&mut self, keys: &[Key]) -> CaseOutcome {
        let expected = self.reference.get(keys).await?;
        expect_equal(&format!("get {keys:?}"), &self.fixture.store.get(keys).await?, &expected)
    }

    async fn get_by_unique_key(&mut self) -> CaseOutcome {
        let unique_key = self.generator.unique_key();
        expect_equal(
            "get_by_unique_key",
            &self.fixture.store.get_by_unique_key(&unique_key).await?,
            &self.reference.get_by_unique_key(&unique_key).await?,
        )
    }

    async fn purge(&mut self) -> CaseOutcome {
        let now = self.generator.expiry();
        let count = self.fixture.store.purge_expired(now).await?;
        expect_equal("the number of purged records", &count, &self.reference.purge_expired(now).await?)
    }
}

/// Returns the value, or `None` if the query was invalid. Any other error fails the case.
fn valid<T>(result: Result<T, StoreError>) -> CaseOutcome<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if *error.kind() == StoreErrorKind::Invalid => Ok(None),
        Err(error) => Err(error.into()),
    }
}

const IDS: u64 = 14;
const OWNERS: u64 = 3;
const MOMENTS: i64 = 8;
const VALUES: [&[u8]; 6] = [b"", b"\0", b"a", b"a\0", b"b", b"\xff"];
const NEVER_PUT: Name = Name::new("never-put");

/// Generates operations of so few values that ties, conflicts and taken unique keys are frequent.
#[derive(Debug)]
struct Generator {
    random: Rng,
    salt: u64,
    kinds: [Name; 2],
    first_expiry: Timestamp,
}

impl Generator {
    fn new(fixture: &mut Fixture) -> Self {
        let first_expiry = fixture.ancient_time();
        let (random, salt) = (Rng::with_seed(fixture.random.u64(..)), fixture.random.u64(..));
        Self { random, salt, kinds: [fixture.kind, fixture.other_kind], first_expiry }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random.u64(..bound)
    }

    fn chance(&mut self, percent: u8) -> bool {
        chance(&mut self.random, percent)
    }

    /// Returns a time at which all expiring records have expired.
    fn last_expiry(&self) -> Timestamp {
        self.first_expiry.plus_micros(MOMENTS)
    }

    /// Returns a random time at which some of the expiring records have expired.
    fn expiry(&mut self) -> Timestamp {
        self.first_expiry.plus_micros(self.random.i64(0..MOMENTS))
    }

    fn key(&mut self) -> Key {
        let [one, two] = self.kinds;
        Key::new(if self.chance(75) { one } else { two }, self.id(IDS))
    }

    fn keys(&mut self) -> Vec<Key> {
        (0..self.below(6)).map(|_| self.key()).collect()
    }

    fn unique_key(&mut self) -> UniqueKey {
        let name = if self.chance(80) { MAIL } else { RANK };
        UniqueKey::new(name, self.id(IDS).as_bytes())
    }

    /// Returns the limit for reading a snapshot: fewer, as many or more records than exist.
    fn snapshot_limit(&mut self) -> usize {
        self.random.choice([1, 3, 14, 1000]).unwrap_or(1)
    }

    fn batch(&mut self, reference: &ReferenceStore) -> Batch {
        let mut batch = Batch::new();
        for _ in 0..self.below(5) {
            let key = self.key();
            let precondition = self.precondition(reference, key);
            if self.chance(65) {
                let body = random_bytes(&mut self.random, 8);
                batch.put(key, precondition, self.facets(), body);
            } else {
                batch.delete(key, precondition);
            }
        }
        for _ in 0..self.below(8).saturating_sub(5) {
            batch.guard(self.random_guard(reference));
        }
        batch
    }

    fn query(&mut self) -> Query {
        let order = self.order();
        let filters = self.below(6).saturating_sub(3);
        let term_filters = self.below(6).saturating_sub(3);
        Query {
            kind: self.key().kind,
            organization: self.chance(30).then(|| self.id(OWNERS)),
            networks: self.chance(40).then(|| self.ids(OWNERS, 4)),
            ids: self.chance(20).then(|| self.ids(IDS, 12)),
            links: (0..filters).map(|_| self.filter()).collect(),
            terms: (0..term_filters).map(|_| self.term_filter()).collect(),
            keys: (0..self.below(6).saturating_sub(4)).map(|_| self.key_filter()).collect(),
            start: self.start(order.len()),
            order,
            limit: self.chance(70).then(|| self.random.usize(..7)),
            max_bytes: self.chance(20).then(|| self.random.usize(..30)),
        }
    }

    /// Returns one of `ids` ids, which are the same in every call.
    fn id(&mut self, ids: u64) -> Uuid {
        random_uuid(&mut Rng::with_seed(self.salt ^ self.below(ids)))
    }

    fn ids(&mut self, ids: u64, max: u64) -> Vec<Uuid> {
        (0..self.below(max)).map(|_| self.id(ids)).collect()
    }

    fn link(&mut self) -> Link {
        Link::new(if self.chance(60) { OWNER } else { PARENT }, self.id(OWNERS))
    }

    fn filter(&mut self) -> LinkFilter {
        let (relation, targets) = (self.link().relation, self.ids(OWNERS, 4));
        if self.chance(75) { LinkFilter::new(relation, targets) } else { LinkFilter::none(relation, targets) }
    }

    /// Returns a term, in rare cases a longer one than allowed, which is invalid.
    fn term(&mut self) -> Term {
        let long = [b'a'; Term::MAX_LENGTH + 1];
        let length = if self.chance(99) { Term::MAX_LENGTH } else { long.len() };
        let long = long.get(..length).asserted_or_default().to_vec();
        Term::new(self.term_name(), if self.chance(90) { self.value() } else { long })
    }

    fn term_name(&mut self) -> Name {
        if self.chance(75) { WORD } else { RANK }
    }

    fn term_filter(&mut self) -> TermFilter {
        let name = if self.chance(95) { self.term_name() } else { NEVER_PUT };
        let ranges: Vec<TermRange> = (0..self.below(4)).map(|_| self.range()).collect();
        TermFilter::new(name, ranges)
    }

    fn key_filter(&mut self) -> KeyFilter {
        let name = if self.chance(90) { self.sort_name() } else { NEVER_PUT };
        KeyFilter::new(name, self.range())
    }

    fn sort_name(&mut self) -> Name {
        if self.chance(50) { RANK } else { GROUP }
    }

    /// Returns a range of values, sometimes one that contains nothing.
    fn range(&mut self) -> TermRange {
        match self.below(4) {
            0 => TermRange::exact(self.value()),
            1 => TermRange::prefix(self.value()),
            2 => TermRange::between(self.value(), self.value()),
            _ => TermRange { from: self.value(), to: self.chance(50).then(|| self.value()) },
        }
    }

    /// Returns a precondition that usually holds, since otherwise hardly any batch would be applied.
    fn precondition(&mut self, reference: &ReferenceStore, key: Key) -> Precondition {
        let version = reference.version(key);
        match self.below(20) {
            0..=9 => Any,
            10 => Absent,
            11 => Present,
            12 => Precondition::Version(Version(self.random.u64(..) >> 1)),
            _ => version.map_or(Absent, Precondition::Version),
        }
    }

    fn random_guard(&mut self, reference: &ReferenceStore) -> Guard {
        match self.below(4) {
            0 => {
                let key = self.key();
                Guard::record(key, self.precondition(reference, key))
            }
            1 => {
                let unique_key = self.unique_key();
                let holder = if self.chance(80) { reference.holder(&unique_key) } else { Some(self.key()) };
                Guard::unique_key(unique_key, holder)
            }
            2 => Guard::linked_within(self.chance(50).then(|| self.id(OWNERS)), self.link()),
            _ => {
                let (organization, network) = (self.chance(50).then(|| self.id(OWNERS)), self.id(OWNERS));
                let except = if self.chance(70) { Vec::new() } else { vec![self.key().kind] };
                Guard::network_empty_except(organization, network, except)
            }
        }
    }

    fn facets(&mut self) -> Facets {
        let (first, second) = (self.unique_key(), self.unique_key());
        let mut unique_keys: Vec<UniqueKey> =
            [first, second].into_iter().filter(|_| self.chance(35)).collect();
        unique_keys.dedup();
        let links = self.below(6).saturating_sub(3);
        Facets {
            organization: self.chance(60).then(|| self.id(OWNERS)),
            network: self.chance(60).then(|| self.id(OWNERS)),
            expires_at: self.chance(15).then(|| self.expiry()),
            links: (0..links).map(|_| self.link()).collect(),
            terms: (0..self.below(5)).map(|_| self.term()).collect(),
            sort_keys: self.sort_keys(),
            unique_keys,
        }
    }

    /// Returns sort keys, in rare cases with a duplicate name, which is invalid.
    fn sort_keys(&mut self) -> Vec<SortKey> {
        let again = if self.chance(2) { &[RANK][..] } else { &[] };
        let mut keys = Vec::new();
        for name in [RANK, GROUP].iter().chain(again) {
            let value = self.chance(80).then(|| self.value());
            let with_version = self.chance(20);
            keys.extend(value.map(|value| match with_version {
                true => SortKey::with_version(*name, value),
                false => SortKey::new(*name, value),
            }));
        }
        keys
    }

    /// Returns a value, sometimes the id of an organization or a network.
    fn value(&mut self) -> Vec<u8> {
        if self.chance(15) {
            return self.id(OWNERS).as_bytes().to_vec();
        }
        self.random.choice(VALUES).asserted_or_default().to_vec()
    }

    /// Returns an order, sometimes with a duplicate name, which is invalid.
    fn order(&mut self) -> Vec<Order> {
        let mut names = [RANK, GROUP, NEVER_PUT];
        self.random.shuffle(&mut names);
        if let ([first, second, _], true) = (&mut names, self.chance(4)) {
            *second = *first;
        }
        let fields = self.random.usize(..4);
        names.into_iter().take(fields).map(|name| Order::new(name, self.direction())).collect()
    }

    fn direction(&mut self) -> Direction {
        if self.chance(50) { Direction::Ascending } else { Direction::Descending }
    }

    /// Returns a start, usually with one key per term; any other number is invalid.
    fn start(&mut self, terms: usize) -> Start {
        if self.chance(50) {
            return Start::Offset(self.below(IDS));
        }
        let length = if self.chance(5) { terms + 1 } else { terms };
        let keys = (0..length).map(|_| self.value()).collect();
        Start::After(Cursor::new(keys, self.id(IDS)))
    }
}
