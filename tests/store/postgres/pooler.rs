//! PgBouncer between a store and its server.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toposcope::store::{Batch, Facets, Key, Name, PostgresStore, Precondition, Store, StoreErrorKind};
use uuid::Uuid;

use super::{database_of, open};
use crate::cluster::{Cluster, skipped};

const NOTE: Key = Key::new(Name::new("note"), Uuid::from_u128(1));

/// A private PgBouncer. Dropping it ends it.
struct Pooler {
    process: Child,
    folder: TempDir,
}

impl Pooler {
    /// Starts a pooler with settings before a server. `None` if it is not installed.
    fn start(server: &Path, settings: &str) -> Option<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
        let Some(program) = folders.map(|folder| folder.join("pgbouncer")).find(|program| program.is_file())
        else {
            return skipped("PgBouncer is not installed (on Debian and Ubuntu: apt-get install pgbouncer)");
        };
        let folder = TempDir::with_prefix("toposcope-pooler-").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let [users, configuration] = ["users", "pgbouncer.ini"].map(|name| folder.path().join(name));
        fs::write(&users, "\"postgres\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host={}\n[pgbouncer]\nunix_socket_dir={}\nlisten_port=5432\nauth_type=trust\n\
             auth_file={}\n{settings}\n",
            server.display(),
            folder.path().display(),
            users.display()
        );
        fs::write(&configuration, text).unwrap();
        let mut command = Command::new(program);
        // It refuses to run as root.
        if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
            command.args(["-u", "nobody"]);
        }
        command.arg("-q").arg(configuration).stdin(Stdio::null()).stderr(Stdio::null());
        let pooler = Self { process: command.spawn().unwrap(), folder };
        let deadline = Instant::now() + Duration::from_secs(30);
        while !pooler.folder.path().join(".s.PGSQL.5432").exists() {
            assert!(Instant::now() < deadline, "PgBouncer does not start");
            std::thread::sleep(Duration::from_millis(5));
        }
        Some(pooler)
    }

    fn connection(&self, direct: &str) -> String {
        format!("host={} user=postgres dbname={}", self.folder.path().display(), database_of(direct))
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn assert_works(store: &PostgresStore) {
    for _ in 0..3 {
        let mut batch = Batch::new();
        batch.put(NOTE, Precondition::Any, Facets::default(), "a body");
        store.commit(batch).await.unwrap();
        assert!(store.get(&[NOTE]).await.unwrap()[0].is_some());
        assert_eq!(store.snapshot().await.unwrap().next(2).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pooler_of_transactions_is_refused_unless_the_option_is_set() {
    let Some(cluster) = Cluster::shared() else { return };
    let modes =
        ["", "default_pool_size=1", "server_round_robin=1", "server_round_robin=1\ndefault_pool_size=2"];
    for settings in modes {
        let Some(pooler) = Pooler::start(cluster.folder(), &format!("pool_mode=transaction\n{settings}"))
        else {
            return;
        };
        let connection = pooler.connection(&cluster.create_database());
        let begin = Instant::now();
        let error = PostgresStore::open(&connection).await.unwrap_err();
        assert_eq!(*error.kind(), StoreErrorKind::Invalid, "{settings}: {error}");
        assert!(error.to_string().contains("transaction_pooling(true)"), "{settings}: {error}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{settings}: {:?}", begin.elapsed());
        if !settings.contains("pool_size=1") {
            assert_works(&open(PostgresStore::builder(&connection).transaction_pooling(true)).await).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pooler_of_sessions_works_like_direct_connections() {
    let Some(cluster) = Cluster::shared() else { return };
    let Some(pooler) = Pooler::start(cluster.folder(), "pool_mode=session") else { return };
    assert_works(&open(PostgresStore::builder(&pooler.connection(&cluster.create_database()))).await).await;
}
