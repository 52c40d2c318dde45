//! The world that requests are sent to, and the oracle's model of it, which follows its changes.

mod audit;
mod change;
mod grow;
mod hosts;
mod keys;
mod settle;
mod used;

pub(crate) use settle::session_of;

use std::sync::Arc;
use std::time::Duration;

use toposcope::access::{ManualClock, PasswordCost, PasswordHasher};
use toposcope::inventory::Inventory;
use toposcope::model::Timestamp;
use toposcope::service::Api;
use uuid::Uuid;

use super::ask::{ALLOWED_ORIGIN, BODY_LIMIT};
use super::fickle::{Fickle, Seeded};
use super::leaks::Leaks;
use super::records::Model;
use crate::common::{Log, Server, SplitMix64, Watched, ample, at};

pub(crate) struct Arena {
    pub(crate) random: SplitMix64,
    pub(crate) clock: ManualClock,
    pub(crate) store: Arc<Fickle>,
    pub(crate) inventory: Inventory,
    pub(crate) server: Server,
    pub(crate) model: Model,
    pub(crate) leaks: Leaks,
    pub(crate) log: Log,
    /// Keys and session ids that were valid once.
    pub(crate) lost: Vec<String>,
    /// The number of the next text; every text has another one.
    count: usize,
}

impl Arena {
    /// Three organizations, and one without API access.
    pub(crate) async fn new(seed: u64, log: Log) -> Self {
        let store = Arc::new(Fickle::new(Watched::new().await));
        let clock = ManualClock::new(at(0));
        // Minimum cost of passwords.
        let passwords = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
        let inventory = Inventory::new(store.clone())
            .with_clock(Arc::new(clock.clone()))
            .with_random(Arc::new(Seeded::new(!seed)))
            .with_passwords(passwords);
        let builder =
            Api::builder(inventory.clone()).body_limit(BODY_LIMIT).allowed_origins([ALLOWED_ORIGIN]);
        let server = Server::built(builder, ample());
        let model = Model {
            now: at(0),
            organizations: vec![],
            networks: vec![],
            tags: vec![],
            users: vec![],
            user_keys: vec![],
            daemon_keys: vec![],
            sessions: vec![],
            shares: vec![],
            referrals: vec![],
            hosts: vec![],
            failed_logins: vec![],
            purged_at: None,
        };
        let (random, leaks) = (SplitMix64(seed), Leaks::default());
        let mut arena =
            Self { random, clock, store, inventory, server, model, leaks, log, lost: vec![], count: 0 };
        for place in 0..4 {
            arena.found_organization(place < 3).await;
        }
        arena
    }

    /// Advances the clock by this many microseconds.
    pub(crate) fn later(&mut self, micros: i64) {
        self.model.now = self.model.now.plus_micros(micros);
        self.clock.advance(Duration::from_micros(micros.unsigned_abs()));
    }

    /// Returns a unique text with the marker of an organization.
    fn text(&mut self, organization: Uuid, what: &str) -> String {
        self.count += 1;
        let marker = &self.model.organization(organization).unwrap().marker;
        format!("{marker} {what} {}", self.count)
    }

    /// Returns an expiry in the future, or none.
    fn end(&mut self) -> Option<Timestamp> {
        let seconds = [10, 600, 90_000, 900_000][self.random.below(4)];
        self.random.once_in(3).then(|| self.model.now.plus_micros(seconds * 1_000_000))
    }

    /// Lets background tasks run.
    pub(crate) async fn settle_tasks(&self) {
        self.store.settle().await;
    }
}
