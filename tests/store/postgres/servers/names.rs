//! Host names whose addresses change, or which no resolver answers.
//!
//! They run in a child process, for which another file is mounted over the host names of the system.

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::time::sleep;
use toposcope::store::{PostgresStore, StoreErrorKind};

use super::super::{database_of, open};
use super::load::Instance;
use super::network::{Network, Proxy};
use super::promotion::{await_standby, follow_promotion};
use crate::child::{Child, TIMEOUT, say};
use crate::cluster::{CANNOT_MOUNT, Cluster, UNSYNCED, can_mount, skipped};

const NAME: &str = "database.test";
const OTHER_NAME: &str = "standby.test";

/// The addresses that the names lead to.
const OLD: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const NEW: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));

/// Mounts the file `$1` over the host names of the system, and runs the rest as a command.
const WITH_NAMES: &str = r#"mount --bind "$1" /etc/hosts && shift && exec "$@""#;

/// Number of calls while the resolver is silent, each of which opens a connection.
const CALLS: usize = 12;

/// Threads that the runtime of the child may start meanwhile, beside one for each name.
const OTHER_THREADS: usize = 2;

/// Runs a part in a child process. `None` if the system does not allow it.
fn run(part: &str) -> Option<()> {
    Cluster::shared()?;
    if !can_mount() {
        return skipped(CANNOT_MOUNT);
    }
    let folder = TempDir::new().unwrap();
    let [names, silence] = ["names", "silence"].map(|name| folder.path().join(name));
    fs::write(&names, "").unwrap();
    assert!(Command::new("mkfifo").arg(&silence).status().unwrap().success());
    let [names, silence] = [&names, &silence].map(|path| path.to_str().unwrap());
    let way = ["unshare", "--mount", "sh", "-c", WITH_NAMES, "sh", names];
    let child = Child::start_through(&way, "names", &[part, names, silence]);
    let ended = child.finish(TIMEOUT).expect("the child hangs");
    assert!(ended.status.success(), "{}", ended.errors);
    println!("{}", ended.lines.join(", "));
    Some(())
}

#[test]
fn single_host_name_is_followed_to_the_promoted_server_and_not_back() {
    run("failover");
}

#[test]
fn silent_resolver_occupies_one_thread_for_each_name_and_stops_no_call() {
    run("silence");
}

/// Runs in the child process.
pub(crate) async fn run_part(arguments: &[&str]) {
    let [part, names, silence] = arguments else { panic!("{arguments:?}") };
    let (names, silence) = (Path::new(names), Path::new(silence));
    // A task, so that it may block its thread.
    let (part, names, silence) = ((*part).to_owned(), names.to_owned(), silence.to_owned());
    let running = async move {
        match part.as_str() {
            "failover" => failover(&names).await,
            "silence" => silent_resolver(&names, &silence).await,
            other => panic!("there is no part {other}"),
        }
    };
    tokio::spawn(running).await.unwrap();
}

/// Makes names lead to addresses, without replacing the file that is mounted.
fn resolve(names: &Path, entries: &[(&str, IpAddr)]) {
    let lines: String = entries.iter().map(|(name, ip)| format!("{ip} {name}\n")).collect();
    fs::File::options().write(true).truncate(true).open(names).unwrap().write_all(lines.as_bytes()).unwrap();
}

async fn failover(names: &Path) {
    let primary = Cluster::start_new(UNSYNCED).unwrap();
    let database = primary.create_database();
    let standby = primary.start_standby();
    let one = Proxy::start_at(OLD, 0, primary.folder(), Network::Works).await;
    let _other = Proxy::start_at(NEW, one.port(), standby.folder(), Network::Works).await;
    resolve(names, &[(NAME, OLD)]);
    let connection =
        format!("host={NAME} port={} user=postgres dbname={}", one.port(), database_of(&database));
    let instance = Instance::new(open(PostgresStore::builder(&connection)).await, 0, 1);
    await_standby(&primary);
    instance.write().await.unwrap();
    let outage = follow_promotion(&instance, &standby, || resolve(names, &[(NAME, NEW)])).await;
    say(&format!("a single name is followed within {outage:?}"));

    // The old primary still runs, and the name leads to it again.
    resolve(names, &[(NAME, OLD)]);
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(3) {
        for outcome in [instance.write().await, instance.read().await] {
            if let Err(error) = outcome {
                assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{error}");
            }
        }
        assert_eq!(instance.store.status().timeline, Some(2));
        sleep(Duration::from_millis(10)).await;
    }
    resolve(names, &[(NAME, NEW)]);
    instance.write().await.unwrap();
    instance.read().await.unwrap();
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

async fn silent_resolver(names: &Path, silence: &Path) {
    let primary = Cluster::start_new(UNSYNCED).unwrap();
    let database = primary.create_database();
    let proxy = Proxy::start_at(OLD, 0, primary.folder(), Network::Works).await;
    resolve(names, &[(NAME, OLD), (OTHER_NAME, NEW)]);
    let connection = format!(
        "host={NAME},{OTHER_NAME} port={} user=postgres dbname={}",
        proxy.port(),
        database_of(&database)
    );
    let builder = PostgresStore::builder(&connection).connection_lifetime(Duration::ZERO);
    let instance = Instance::new(open(builder).await, 0, 1);
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    let before = threads();
    // Reading the names waits for a writer of the pipe, which does not come.
    let mount = Command::new("mount").arg("--bind").arg(silence).arg("/etc/hosts").status().unwrap();
    assert!(mount.success());
    for _ in 0..CALLS {
        instance.write().await.unwrap();
        instance.read().await.unwrap();
    }
    let during = threads();
    assert!(Command::new("umount").args(["--lazy", "/etc/hosts"]).status().unwrap().success());
    // Opening the pipe ends all reads.
    drop(fs::File::options().write(true).open(silence).unwrap());
    instance.write().await.unwrap();
    instance.read().await.unwrap();
    say(&format!("{before} threads before, {during} while the resolver was silent"));
    assert!(during <= before + 2 + OTHER_THREADS, "{before} threads before, {during} during");
}
