//! Each change is posted at least once, in order, whatever the receiver answers.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use toposcope::access::Caller;
use toposcope::client::Client;
use toposcope::inventory::Bootstrap;
use toposcope::model::Tag;
use toposcope::{Api, Inventory, MemoryStore};
use toposcope_follow::{Backoff, Database, Webhook, follow, http_client};

use self::support::receiver::{Answer, Received, Receiver};
use self::support::{EMAIL, SECRET, newest, soon};

struct Site {
    store: Arc<MemoryStore>,
    key: String,
    inventory: Inventory,
    caller: Caller,
    client: Client<Api>,
    folder: TempDir,
    receiver: Receiver,
}

impl Site {
    async fn new() -> Self {
        let store = Arc::new(MemoryStore::new());
        let inventory = Inventory::new(Arc::clone(&store));
        let start = inventory.bootstrap(Bootstrap::new("Example", EMAIL)).await.unwrap();
        let key = start.issued_key.unwrap().plaintext().to_owned();
        let caller = Caller::system(start.organization.id);
        let (folder, receiver) = (TempDir::new().unwrap(), Receiver::begin().await);
        let client = client(&inventory, &key);
        Self { store, key, inventory, caller, client, folder, receiver }
    }

    /// Begins another history, in which earlier positions are invalid.
    async fn begin_history_again(&mut self) {
        let silent = Inventory::new(Arc::clone(&self.store)).without_history();
        silent.tags().create(&self.caller, Tag::new("unseen")).await.unwrap();
        self.inventory = Inventory::new(Arc::clone(&self.store));
        self.client = client(&self.inventory, &self.key);
    }

    /// Follows and posts, until the other future ends.
    async fn run<T>(&self, until: impl Future<Output = T>) -> T {
        let database = self.open();
        let delays = Backoff::new(Duration::from_millis(1), Duration::from_millis(4));
        let webhook =
            Webhook::new(http_client(), self.receiver.url.parse().unwrap(), SECRET.parse().unwrap());
        let webhook = webhook.with_delays(delays);
        soon(async {
            tokio::select! {
                outcome = follow(&self.client, &database) => panic!("{outcome:?}"),
                outcome = webhook.deliver(&database) => panic!("{outcome:?}"),
                output = until => output,
            }
        })
        .await
    }

    fn open(&self) -> Database {
        Database::open(self.path().as_ref(), true).unwrap()
    }

    fn path(&self) -> impl AsRef<Path> {
        self.folder.path().join("copy.sqlite")
    }

    /// Follows without posting, until the newest change is in the outbox.
    async fn follow_to_the_end(&self) {
        let database = self.open();
        let newest = newest(&self.client).await;
        soon(async {
            tokio::select! {
                outcome = follow(&self.client, &database) => panic!("{outcome:?}"),
                () = async {
                    while database.position().unwrap().is_none_or(|position| position.as_str() != newest) {
                        tokio::task::yield_now().await;
                    }
                } => {}
            }
        })
        .await;
    }

    async fn create_tags(&self, names: impl IntoIterator<Item = String>) {
        for name in names {
            self.inventory.tags().create(&self.caller, Tag::new(name)).await.unwrap();
        }
    }
}

fn client(inventory: &Inventory, key: &str) -> Client<Api> {
    Client::new(Api::builder(inventory.clone()).rate_limit(None).build()).with_api_key(key).unwrap()
}

fn tags(range: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    range.map(|number| format!("tag {number:03}"))
}

fn names(received: &[Received]) -> Vec<&str> {
    received.iter().map(|message| message.body["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn receiver_that_fails_gets_each_change_at_least_once_and_in_order() {
    let site = Site::new().await;
    site.follow_to_the_end().await;
    let mut random = fastrand::Rng::with_seed(20_261_127);
    let answers: Vec<Answer> =
        (0..60).map(|_| if random.bool() { Answer::Refuse } else { Answer::AcceptAndFail }).collect();
    let lost = answers.iter().filter(|answer| matches!(answer, Answer::AcceptAndFail)).count();
    site.receiver.answer(answers);
    // Some are in the outbox when the process ends, some come while it runs.
    site.create_tags(tags(0..20)).await;
    site.follow_to_the_end().await;
    let all = site
        .run(async {
            site.create_tags(tags(20..40)).await;
            site.receiver.until(|all| all.last().is_some_and(|last| last.body["name"] == "tag 039")).await
        })
        .await;
    assert!(all.iter().all(|message| message.event == "change" && message.body["position"] == message.id));
    let mut once = all.clone();
    once.dedup_by(|later, earlier| later.id == earlier.id);
    assert_eq!(names(&once), tags(0..40).collect::<Vec<_>>(), "in order");
    assert_eq!(all.len(), once.len() + lost, "again only what the receiver seemed to lose");
}

#[tokio::test]
async fn accepted_changes_are_not_posted_again_by_the_next_process() {
    let site = Site::new().await;
    site.follow_to_the_end().await;
    for round in 0..3 {
        let tag = format!("round {round}");
        site.create_tags([tag.clone()]).await;
        site.run(site.receiver.until(|all| all.last().is_some_and(|last| last.body["name"] == tag.as_str())))
            .await;
        // The next change follows it at once, so that it was removed.
    }
    let all = site.receiver.until(|_| true).await;
    let mut once = names(&all);
    once.dedup();
    assert_eq!(once, ["round 0", "round 1", "round 2"]);
}

#[tokio::test]
async fn receiver_learns_that_changes_are_missing() {
    let mut site = Site::new().await;
    site.follow_to_the_end().await;
    site.create_tags(["old".to_owned()]).await;
    site.follow_to_the_end().await;
    site.begin_history_again().await;
    let all = site
        .run(async {
            site.receiver.until(|all| all.len() == 2).await;
            site.create_tags(["new".to_owned()]).await;
            site.receiver.until(|all| all.len() == 3).await
        })
        .await;
    let events: Vec<&str> = all.iter().map(|message| message.event.as_str()).collect();
    assert_eq!(events, ["change", "renewed", "change"]);
    assert_eq!(all[1].body["position"], all[1].id);
    assert_eq!([&all[0], &all[2]].map(|message| &message.body["name"]), ["old", "new"]);
}

#[tokio::test]
async fn full_outbox_makes_changes_wait_in_the_history() {
    let site = Site::new().await;
    site.follow_to_the_end().await;
    let connection = rusqlite::Connection::open(site.path()).unwrap();
    let fill = "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 10001)
                INSERT INTO outbox (number, id, event, body) SELECT number, number, 'change', '{\"name\": \"old\"}' FROM numbers";
    connection.execute(fill, ()).unwrap();
    site.create_tags(["new".to_owned()]).await;
    let count =
        || -> i64 { connection.query_row("SELECT count(*) FROM outbox", (), |row| row.get(0)).unwrap() };
    let database = site.open();
    // The follower gets as far as it can, and then waits: each of its steps ends within a few polls.
    tokio::select! {
        outcome = follow(&site.client, &database) => panic!("{outcome:?}"),
        () = async { for _ in 0..1000 { tokio::task::yield_now().await } } => {}
    }
    assert_eq!(count(), 10_001);
    drop(database);
    connection.execute("DELETE FROM outbox WHERE number > 5", ()).unwrap();
    let is_new = |all: &Vec<Received>| all.last().is_some_and(|last| last.body["name"] == "new");
    let all = site.run(site.receiver.until(is_new)).await;
    assert_eq!(names(&all), ["old", "old", "old", "old", "old", "new"]);
}
