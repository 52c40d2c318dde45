//! Private PostgreSQL clusters for tests and benchmarks.
//!
//! They are in a temporary folder, and reached through a Unix socket only.
//!
//! A cluster never outlives the process that created it: a shell waits for the end of a pipe, which the operating
//! system closes in any case, then stops the server and removes the folder.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A time far longer than a server takes to start, to recover or to stop.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Settings that suffice for all stores of a test binary, and take little memory.
const SETTINGS: [&str; 4] =
    ["listen_addresses=", "max_connections=300", "shared_buffers=64MB", "max_wal_size=512MB"];

/// Setting of a server whose processes may be killed. Data that they have written is in the operating system, which
/// keeps running.
pub(crate) const UNSYNCED: &[&str] = &["fsync=off"];

/// Stops the server and removes the folder at the end of standard input.
const WATCH: &str = r#"read -r _; "$1" -D "$2/data" -m immediate stop >/dev/null 2>&1; rm -rf "$2""#;

/// A private PostgreSQL server with its data. Dropping it stops the server and removes the data.
#[derive(Debug)]
pub(crate) struct Cluster {
    installation: Installation,
    /// Folder of the socket, the log and the data.
    folder: PathBuf,
    settings: Vec<String>,
    server: Child,
    /// Shell that cleans up once its standard input is closed.
    watchdog: Child,
    databases: AtomicUsize,
}

/// The programs of PostgreSQL, and the user that runs them.
#[derive(Clone, Debug)]
struct Installation {
    programs: PathBuf,
    /// User and group ids. `None`: the current user. PostgreSQL refuses to run as root.
    user: Option<(u32, u32)>,
    /// Whether the server sees a small disk in the folder [`SMALL_DISK`].
    has_small_disk: bool,
}

/// Folder of the small disk, in the folder of the cluster.
const SMALL_DISK: &str = "small";

/// Script that starts a server which sees a small disk.
///
/// It creates a file system of 24 MB in the folder `$1`, which only the server sees, and starts the server `$4` and
/// following as the user `$2` and the group `$3`. The file system is removed with the server.
const ON_SMALL_DISK: &str = r#"mkdir -p "$1" && mount -t tmpfs -o "size=24m,uid=$2,gid=$3,mode=0700" none "$1" &&
    user=$2 group=$3 && shift 3 && exec setpriv --reuid "$user" --regid "$group" --clear-groups "$@""#;

impl Cluster {
    /// Returns the cluster that all tests of this process share. Each test has a database of its own. The server never
    /// syncs. `None` unless [`is_wanted`] and PostgreSQL is installed: the calling test then prints this and returns.
    pub(crate) fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Cluster>> = OnceLock::new();
        if !is_wanted() {
            return skipped(NOT_WANTED);
        }
        let shared =
            SHARED.get_or_init(|| Installation::find().map(|found| Self::create(found, UNSYNCED, None)));
        shared.as_ref().or_else(|| skipped(NOT_INSTALLED))
    }

    /// Creates a cluster with further settings, for a test that stops the server. An example of a setting is
    /// [`UNSYNCED`]. `None` as in [`shared`](Self::shared).
    pub(crate) fn start_new(settings: &[&str]) -> Option<Self> {
        if is_wanted() { Self::create_new(settings) } else { skipped(NOT_WANTED) }
    }

    /// Creates a cluster with a tablespace `small` on a disk of 24 MB. `None` as in [`shared`](Self::shared), and
    /// unless the current user may mount file systems.
    pub(crate) fn start_with_small_disk() -> Option<Self> {
        if !is_wanted() {
            return skipped(NOT_WANTED);
        }
        let installation = Installation::find().or_else(|| skipped(NOT_INSTALLED))?;
        if installation.user.is_none() || !can_mount() {
            return skipped(CANNOT_MOUNT);
        }
        let installation = Installation { has_small_disk: true, ..installation };
        let cluster = Self::create(installation, UNSYNCED, None);
        let location = cluster.folder.join(SMALL_DISK);
        cluster.execute("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", location.display()));
        Some(cluster)
    }

    /// Creates a cluster with further settings. `None` if PostgreSQL is not installed.
    pub(crate) fn create_new(settings: &[&str]) -> Option<Self> {
        Installation::find()
            .map(|found| Self::create(found, settings, None))
            .or_else(|| skipped(NOT_INSTALLED))
    }

    /// Creates a server that streams the log of this one, and answers queries.
    pub(crate) fn start_standby(&self) -> Self {
        Self::create(self.installation.clone(), UNSYNCED, Some(self))
    }

    /// Creates a cluster with no data, or with the data of a primary.
    fn create(installation: Installation, settings: &[&str], primary: Option<&Self>) -> Self {
        let folder = TempDir::with_prefix("toposcope-postgres-").unwrap().keep();
        if let Some((user, group)) = installation.user {
            chown(&folder, Some(user), Some(group)).unwrap();
        }
        let watchdog = installation.watch(&folder);
        match primary {
            None => installation.initialize(&folder),
            Some(primary) => installation.copy(&primary.folder, &folder),
        }
        let settings: Vec<String> = SETTINGS.iter().chain(settings).map(ToString::to_string).collect();
        let server = installation.serve(&folder, &settings);
        let mut cluster =
            Self { installation, folder, settings, server, watchdog, databases: AtomicUsize::new(0) };
        cluster.await_ready();
        cluster
    }

    /// Creates an empty database, and returns its connection string.
    pub(crate) fn create_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.execute("postgres", &format!("CREATE DATABASE {name}"));
        self.connection(&name)
    }

    /// Returns the connection string of a database.
    pub(crate) fn connection(&self, database: &str) -> String {
        format!("host={} user=postgres dbname={database}", self.folder.display())
    }

    /// Executes SQL through `psql`, and returns the rows without headers and padding.
    pub(crate) fn execute(&self, database: &str, sql: &str) -> String {
        let mut psql = self.installation.command("psql");
        psql.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql, &self.connection(database)]);
        run(&mut psql)
    }

    /// Requires a password for new connections of a user.
    pub(crate) fn require_password(&self, user: &str) {
        let path = self.folder.join("data/pg_hba.conf");
        let rules = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("local all {user} scram-sha-256\n{rules}")).unwrap();
        self.execute("postgres", "SELECT pg_reload_conf()");
        let rule = format!("SELECT count(*) FROM pg_hba_file_rules WHERE '{user}' = ANY (user_name)");
        self.await_answer(&rule, "1");
    }

    /// Starts the server again after [`stop`](Self::stop) or [`kill`](Self::kill), and waits until it accepts
    /// connections.
    pub(crate) fn start(&mut self) {
        self.server = self.installation.serve(&self.folder, &self.settings);
        self.await_ready();
    }

    /// Stops the server in one of the modes of `pg_ctl`: `smart`, `fast` or `immediate`.
    pub(crate) fn stop(&mut self, mode: &str) {
        let mut pg_ctl = self.installation.command("pg_ctl");
        run(pg_ctl.arg("-D").arg(self.folder.join("data")).args(["-m", mode, "stop"]));
        self.server.wait().unwrap();
    }

    /// Kills the server with `SIGKILL`. Its processes for connections end on their own, a little later.
    pub(crate) fn kill(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }

    /// Kills all running processes of the server with `SIGKILL`.
    pub(crate) fn kill_all(&mut self) {
        let processes = self.execute("postgres", "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity");
        let server = self.server.id().to_string();
        // While stopped, the server starts no other processes. It must not be the first to die: a process that notices
        // it while it waits for a standby would make a commit visible that no standby has.
        signal("-STOP", [server.clone()]);
        signal("-KILL", processes.split(' ').map(str::to_owned));
        signal("-KILL", [server]);
        self.server.wait().unwrap();
    }

    /// Kills one process of the server with `SIGKILL`. The server then ends all the others, and recovers by itself.
    pub(crate) fn kill_process(&self, process: &str) {
        signal("-KILL", [process.to_owned()]);
    }

    /// Makes a standby the primary.
    pub(crate) fn promote(&self) {
        assert_eq!(self.execute("postgres", "SELECT pg_promote()"), "t");
    }

    /// Starts a killed server as a standby, with a primary's data instead of its own.
    pub(crate) fn follow(&mut self, primary: &Self) {
        fs::remove_dir_all(self.folder.join("data")).unwrap();
        self.installation.copy(&primary.folder, &self.folder);
        self.start();
    }

    /// Exchanges the data of a stopped server with other data: at first those of a new cluster.
    pub(crate) fn exchange_data(&self) {
        let [data, other, kept] = ["data", "other", "kept"].map(|name| self.folder.join(name));
        fs::rename(&data, &kept).unwrap();
        if other.exists() {
            fs::rename(&other, &data).unwrap();
        } else {
            self.installation.initialize(&self.folder);
        }
        fs::rename(&kept, &other).unwrap();
    }

    /// Sets whether a commit waits until a standby has it.
    pub(crate) fn set_synchronous(&self, is_synchronous: bool) {
        let names = if is_synchronous { "*" } else { "" };
        self.execute("postgres", &format!("ALTER SYSTEM SET synchronous_standby_names = '{names}'"));
        self.execute("postgres", "SELECT pg_reload_conf()");
        self.await_answer("SHOW synchronous_standby_names", names);
    }

    /// Waits until a query returns this text.
    pub(crate) fn await_answer(&self, sql: &str, expected: &str) {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let answer = self.execute("postgres", sql);
            if answer == expected {
                return;
            }
            assert!(Instant::now() < deadline, "{sql} returns {answer} instead of {expected}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the server accepts connections. After a kill it refuses to start until all processes of its
    /// predecessor have ended. It is then started again.
    fn await_ready(&mut self) {
        let deadline = Instant::now() + TIMEOUT;
        while !self.is_ready() {
            if self.server.try_wait().unwrap().is_some() {
                self.server = self.installation.serve(&self.folder, &self.settings);
            }
            assert!(Instant::now() < deadline, "PostgreSQL does not start: {}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Reads the state that the server keeps in its lock file. The first line is the process id, and the eighth line is
    /// the status.
    fn is_ready(&self) -> bool {
        let text = fs::read_to_string(self.folder.join("data/postmaster.pid")).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        lines.next() == Some(&self.server.id().to_string())
            && matches!(lines.nth(6), Some("ready" | "standby"))
    }

    /// Returns the folder of the socket, the log and the data.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the log of the server.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let _ = self.watchdog.wait();
        let _ = self.server.wait();
    }
}

impl Installation {
    /// Finds the programs on the path, or the newest ones where Debian installs them.
    fn find() -> Option<Self> {
        let path = env::var_os("PATH").unwrap_or_default();
        // A link on the path may be that of one program only. The others are beside its target.
        let linked = env::split_paths(&path).filter_map(|folder| folder.join("initdb").canonicalize().ok());
        let on_path = linked.filter_map(|program| Some(program.parent()?.to_path_buf()));
        let programs = on_path.chain(debian()).find(|programs| is_complete(programs))?;
        Some(Self { programs, user: unprivileged_user(), has_small_disk: false })
    }

    /// Returns a program of PostgreSQL, run by the user of the server.
    fn command(&self, program: &str) -> Command {
        self.as_user(Command::new(self.programs.join(program)))
    }

    fn as_user(&self, mut command: Command) -> Command {
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        // The current folder may be closed to that user.
        command.current_dir("/").stdin(Stdio::null());
        command
    }

    fn initialize(&self, folder: &Path) {
        let mut initdb = self.command("initdb");
        initdb.args(["-A", "trust", "-N", "-U", "postgres", "-E", "UTF8", "--locale=C", "-D"]);
        run(initdb.arg(folder.join("data")));
    }

    /// Copies the data of a running server, for a standby of that server.
    fn copy(&self, primary: &Path, folder: &Path) {
        let mut copy = self.command("pg_basebackup");
        run(copy
            .args(["-R", "-N", "-c", "fast", "-U", "postgres", "-h"])
            .arg(primary)
            .arg("-D")
            .arg(folder.join("data")));
    }

    /// Starts a server. Ctrl-C does not reach it, so the watchdog ends it, and not before its clients.
    fn serve(&self, folder: &Path, settings: &[String]) -> Child {
        let log = File::options().create(true).append(true).open(folder.join("log")).unwrap();
        let mut postgres = self.server_command(folder);
        postgres.arg("-D").arg(folder.join("data")).arg("-k").arg(folder);
        postgres.args(settings.iter().flat_map(|setting| ["-c", setting]));
        postgres.stdout(log.try_clone().unwrap()).stderr(log).process_group(0).spawn().unwrap()
    }

    /// Returns the command of the server, to which its arguments are added.
    fn server_command(&self, folder: &Path) -> Command {
        let Some((user, group)) = self.user.filter(|_| self.has_small_disk) else {
            return self.command("postgres");
        };
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", ON_SMALL_DISK, "sh"]).arg(folder.join(SMALL_DISK));
        unshare.args([user.to_string(), group.to_string()]).arg(self.programs.join("postgres"));
        unshare.current_dir("/").stdin(Stdio::null());
        unshare
    }

    fn watch(&self, folder: &Path) -> Child {
        let mut shell = self.as_user(Command::new("sh"));
        shell.args(["-c", WATCH, "sh"]).arg(self.programs.join("pg_ctl")).arg(folder);
        shell
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap()
    }
}

/// Returns the folders where Debian installs the programs, the newest version first.
fn debian() -> impl Iterator<Item = PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut versions: Vec<PathBuf> = versions.map(|entry| entry.path()).collect();
    versions.sort_by_key(number);
    versions.into_iter().rev().map(|version| version.join("bin"))
}

fn is_complete(programs: &Path) -> bool {
    ["initdb", "pg_ctl", "postgres", "psql"].iter().all(|program| programs.join(program).is_file())
}

/// Returns a user and its group to run PostgreSQL as. Returns `None` if the current user is not root.
fn unprivileged_user() -> Option<(u32, u32)> {
    if TempDir::new().unwrap().path().metadata().unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let mut fields =
            users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":x:"))?.split(':');
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("root needs the user postgres or nobody"))
}

/// Returns whether a mount namespace with a file system of its own can be created.
pub(crate) fn can_mount() -> bool {
    let script = "mount -t tmpfs none /mnt && command -v setpriv";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "sh", "-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
    unshare.status().is_ok_and(|status| status.success())
}

fn signal(signal: &str, processes: impl IntoIterator<Item = String>) {
    // Some of them may have ended before.
    Command::new("kill").arg(signal).args(processes).stderr(Stdio::null()).status().unwrap();
}

/// Runs a program to its end, and returns its output.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Returns whether tests run on PostgreSQL.
pub(crate) fn is_wanted() -> bool {
    env::var("TOPOSCOPE_POSTGRES").is_ok_and(|value| value == "all")
}

const NOT_WANTED: &str = "tests on PostgreSQL take long (run with TOPOSCOPE_POSTGRES=all)";
const NOT_INSTALLED: &str = "PostgreSQL is not installed (on Debian and Ubuntu: apt-get install postgresql)";

/// Reason to skip tests for which [`can_mount`] is false.
pub(crate) const CANNOT_MOUNT: &str = "the current user may not mount file systems";

/// Prints that a test is skipped. Unlike `eprintln`, this is shown for tests that pass, too.
pub(crate) fn skipped<T>(reason: &str) -> Option<T> {
    let test = thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(io::stderr(), "{test}: SKIPPED, because {reason}");
    None
}
