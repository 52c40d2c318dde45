//! The follower and the server as processes that are killed at any moment.

mod support;

use std::net::TcpListener as Port;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::{Semaphore, watch};
use toposcope::client::Client;
use toposcope::model::{ChangePosition, Host, HostId, Tag};
use toposcope::wire::{Atomicity, ChangeQuery, ListQuery};
use toposcope_follow::{HttpClient, http_client};

use self::support::changes::Changes;
use self::support::receiver::Receiver;
use self::support::{EMAIL, PASSWORD, SECRET, assert_equal, copy, hosts_at, soon, source};

/// The number of kills, unless `TOPOSCOPE_FOLLOW_KILLS` says another one.
const KILLS: u32 = 10;

/// The processes of a test, in a folder.
struct Site {
    folder: TempDir,
    address: String,
    webhook: String,
}

impl Site {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Starts the server, and returns what it printed before it serves.
    async fn start_server(&self) -> (Child, Vec<String>) {
        let program = Path::new(env!("CARGO_BIN_EXE_follow")).with_file_name("examples").join("server");
        let mut server = Command::new(program);
        server.arg(self.path("inventory")).arg(&self.address).stdout(Stdio::piped()).kill_on_drop(true);
        let mut server = server.spawn().unwrap();
        let mut lines: Lines<BufReader<ChildStdout>> = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut printed = Vec::new();
        loop {
            match soon(lines.next_line()).await.unwrap() {
                Some(line) if line == "serving" => return (server, printed),
                Some(line) => printed.push(line),
                None => panic!("the server has ended: {:?}", server.wait().await),
            }
        }
    }

    fn start_follower(&self) -> Child {
        let mut follower = Command::new(env!("CARGO_BIN_EXE_follow"));
        follower.args(["--url", &self.url(), "--webhook", &self.webhook]);
        follower.arg("--key-file").arg(self.path("key")).arg("--secret-file").arg(self.path("secret"));
        follower.arg("--database").arg(self.path("copy.sqlite"));
        follower.stderr(std::fs::File::options().create(true).append(true).open(self.path("log")).unwrap());
        follower.kill_on_drop(true).spawn().unwrap()
    }
}

/// Returns a free port that no outgoing connection gets: while the server is dead, no other program may take
/// it.
fn free_address() -> String {
    let mut random = Rng::new();
    let mut addresses = std::iter::repeat_with(|| format!("127.0.0.1:{}", random.u16(20_000..32_000)));
    addresses.find(|address| Port::bind(address).is_ok()).unwrap()
}

/// Makes as many changes as there are permits, until the semaphore is closed. The number of changes is sent.
async fn write(
    mut changes: Changes<HttpClient>,
    count: watch::Sender<usize>,
    permits: Arc<Semaphore>,
) -> Changes<HttpClient> {
    while let Ok(permit) = permits.acquire().await {
        permit.forget();
        while changes.step().await.is_err() {
            // The server is dead. Without a pause, the attempts would take the processor from the next one.
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        count.send_modify(|count| *count += 1);
    }
    changes
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_and_webhooks_survive_kills_of_either_side() {
    let kills = std::env::var("TOPOSCOPE_FOLLOW_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let seed = Rng::new().u64(..);
    println!("seed {seed}");
    let mut random = Rng::with_seed(seed);
    let receiver = Receiver::begin().await;
    let site =
        Site { folder: TempDir::new().unwrap(), address: free_address(), webhook: receiver.url.clone() };
    let (mut server, printed) = site.start_server().await;
    let key = &printed[0];
    std::fs::write(site.path("key"), key).unwrap();
    std::fs::write(site.path("secret"), SECRET).unwrap();
    let client = || Client::new(http_client()).with_base_url(&site.url()).unwrap();
    let (reader, mut session) = (client().with_api_key(key).unwrap(), client());
    session.log_in(EMAIL, PASSWORD).await.unwrap();
    fill(&session).await;

    let (count, mut counted) = watch::channel(0);
    let permits = Arc::new(Semaphore::new(0));
    let changes = Changes::new(session.clone(), random.u64(..));
    let writer = tokio::spawn(write(changes, count, Arc::clone(&permits)));
    let (mut follower, mut permitted, mut exact_states) = (site.start_follower(), 0, 0);
    for kill in 0..kills {
        let is_last = kill + 1 == kills;
        let new = random.usize(4..16);
        permits.add_permits(new);
        if random.bool() && !is_last {
            // While some of the changes are made; in the beginning, while the lists are read.
            let target = permitted + random.usize(..new);
            soon(counted.wait_for(|count| *count >= target)).await.unwrap();
        } else {
            // While changes come through: what is created once there is a copy.
            soon(until_copied(&site)).await;
            let target = receiver.count() + 1;
            let marker = Tag::new(format!("kill {kill}"));
            soon(session.create(&marker)).await.unwrap();
            soon(receiver.until(|all| all.len() >= target)).await;
        }
        permitted += new;
        // The moment must not be the same one after each of them.
        let magnitude = random.u32(..16);
        for _ in 0..random.u32(..1 << magnitude) {
            tokio::task::yield_now().await;
        }
        let (kills_follower, kills_server) = [(true, false), (false, true), (true, true)][random.usize(..3)];
        if kills_follower || is_last {
            follower.kill().await.unwrap();
        }
        if kills_server {
            server.kill().await.unwrap();
            server = site.start_server().await.0;
        }
        if kills_follower || is_last {
            exact_states += u32::from(assert_exact(&site, &reader, kill).await);
            follower = site.start_follower();
        }
    }
    assert!(exact_states > 0, "the last kill comes when there is a copy");
    soon(counted.wait_for(|count| *count == permitted)).await.unwrap();
    permits.close();
    let mut changes = soon(writer).await.unwrap();
    if kills >= 100 {
        changes.make_all().await.unwrap();
    }

    let last = session.create(&Tag::new("the last change")).await.unwrap().record;
    let is_last = |message: &support::receiver::Received| message.body["id"] == last.id.to_string();
    let received = soon(receiver.until(|all| all.iter().any(is_last))).await;
    assert_equal(&copy(&site.path("copy.sqlite")).unwrap().1, &source(&reader).await, "after all kills");

    // Each change at least once, and in order: without repeats, they are the history from the first one on.
    let first = received[0].id.clone();
    let mut expected = history_from(&reader, &first).await;
    let mut in_order: Vec<String> = received.iter().map(|message| message.id.clone()).collect();
    in_order.dedup();
    // The changes that the last process makes before it learns of the end come after the last message.
    let end =
        expected.iter().position(|id| *id == received.iter().rfind(|message| is_last(message)).unwrap().id);
    expected.truncate(end.unwrap() + 1);
    assert_eq!(in_order, expected);

    interrupt(&follower);
    let status = soon(follower.wait()).await.unwrap();
    let log = std::fs::read_to_string(site.path("log")).unwrap();
    assert!(
        status.success() && log.contains("Stopped.") && log.contains("following from"),
        "{status}: {log}"
    );
    println!(
        "{kills} kills, {} changes, {} messages of {} changes; {exact_states} times the killed copy was compared with the past",
        permitted,
        received.len(),
        expected.len(),
    );
}

/// Adds hosts, so that copying them takes some time.
async fn fill(session: &Client<HttpClient>) {
    let mut networks = session.list(&ListQuery::default()).await.unwrap().records;
    let network: toposcope::model::Network = networks.pop().unwrap();
    let host = |number: u128| {
        Host::with_id(HostId::from_u128(1_000 + number), network.id, format!("filler {number}"))
    };
    session.put_hosts(&(0..200).map(host).collect::<Vec<_>>(), Atomicity::AllOrNothing).await.unwrap();
}

/// Waits until there is a copy. Only the file shows it.
async fn until_copied(site: &Site) {
    while copy(&site.path("copy.sqlite")).is_none() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Asserts that the copy of a killed follower is the state at its position. Returns whether there is a copy.
async fn assert_exact(site: &Site, reader: &Client<HttpClient>, kill: u32) -> bool {
    let Some((position, mut copied)) = copy(&site.path("copy.sqlite")) else { return false };
    copied.retain(|(entity, _), _| entity == "Host");
    assert_equal(&copied, &soon(hosts_at(reader, &position)).await, &format!("after kill {kill}"));
    true
}

/// Returns the positions of all changes from one on.
async fn history_from(reader: &Client<HttpClient>, first: &str) -> Vec<String> {
    let mut positions = vec![first.to_owned()];
    let mut query = ChangeQuery::default();
    query.after = Some(ChangePosition::new(first));
    loop {
        let page = reader.changes(&query).await.unwrap();
        positions.extend(page.changes.iter().map(|change| change.position.to_string()));
        if !page.has_more {
            return positions;
        }
        query.after = Some(page.next);
    }
}

/// Sends the signal of Ctrl-C.
fn interrupt(process: &Child) {
    let id = process.id().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}
