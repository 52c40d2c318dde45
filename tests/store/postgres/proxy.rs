//! A proxy that cuts the connections of commits, or stops forwarding anything.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

/// Name of the socket of a server in its folder.
const SOCKET: &str = ".s.PGSQL.5432";

/// The ends of answers to a commit: of a transaction, and of the statement that appends an entry by itself. They are
/// messages of type `C`, each with its length and the name of the command. The second is followed by the message that the
/// server is not in a transaction.
const COMMITTED: [&[u8]; 2] = [b"C\0\0\0\x0bCOMMIT\0", b"C\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I"];

/// The beginning of the statement that appends an entry to the log. [`TAIL`] is the end of the statement that reads the
/// log's tail.
const APPEND: &[u8] = b"WITH appended AS (INSERT INTO topo_log";
const TAIL: &[u8] = b"ORDER BY position LIMIT 256\0";

/// A fault of the connections that commit.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "the conformance suite needs the rest"))]
pub(crate) enum Fault {
    /// The server commits, and the answer is lost.
    CutAnswer { one_in: usize },
    /// A part of the request reaches the server.
    CutRequest { one_in: usize },
    /// The statement that follows a commit is not prepared.
    CutPreparation,
    /// None.
    Nothing,
}

/// A socket whose connections lead to a server. It serves until the process ends.
#[derive(Debug)]
pub(crate) struct Proxy {
    folder: PathBuf,
    /// The socket of the server that new connections lead to.
    server: Arc<Mutex<PathBuf>>,
    is_stalled: Arc<AtomicBool>,
    cuts: Arc<AtomicUsize>,
}

impl Proxy {
    pub(crate) fn start(server: &Path, fault: Fault) -> Self {
        let folder = TempDir::with_prefix("toposcope-proxy-").unwrap().keep();
        let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
        let server = Arc::new(Mutex::new(server.join(SOCKET)));
        let is_stalled = Arc::new(AtomicBool::new(false));
        let cuts = Arc::new(AtomicUsize::new(0));
        let (stall, count, target) = (Arc::clone(&is_stalled), Arc::clone(&cuts), Arc::clone(&server));
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&*target.lock().unwrap())) else {
                    return;
                };
                serve(&client, &server, fault, &stall, &count);
            }
        });
        Self { folder, server, is_stalled, cuts }
    }

    /// Has new connections lead to another server. The others stay.
    pub(crate) fn lead_to(&self, server: &Path) {
        *self.server.lock().unwrap() = server.join(SOCKET);
    }

    /// Sets whether the proxy accepts bytes and connections without forwarding them.
    pub(crate) fn set_stalled(&self, is_stalled: bool) {
        self.is_stalled.store(is_stalled, Ordering::Relaxed);
    }

    /// Returns the number of connections cut.
    #[cfg_attr(not(feature = "sled"), allow(dead_code, reason = "the tests of durability need it"))]
    pub(crate) fn cuts(&self) -> usize {
        self.cuts.load(Ordering::Relaxed)
    }

    /// Returns the connection string of a database of the server, through the proxy.
    pub(crate) fn connection(&self, direct: &str) -> String {
        let (_, rest) = direct.split_once(' ').unwrap();
        format!("host={} {rest}", self.folder.display())
    }
}

fn serve(
    client: &UnixStream,
    server: &UnixStream,
    fault: Fault,
    is_stalled: &Arc<AtomicBool>,
    cuts: &Arc<AtomicUsize>,
) {
    // Whether the connection is one for commits, and whether it has committed. Only such connections are cut, since reads
    // are not repeated.
    let (appends, commits) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (has_appended, has_committed) = (Arc::clone(&appends), Arc::clone(&commits));
    let cut_request = move |chunk: &[u8]| {
        let does_append = appends.fetch_or(contains(chunk, APPEND), Ordering::Relaxed);
        match fault {
            // Reads of other connections prepare the same statement.
            Fault::CutPreparation => (does_append && contains(chunk, TAIL)).then_some(0),
            // A request after a commit on this connection is another commit.
            Fault::CutRequest { one_in } => {
                let is_cut = has_committed.load(Ordering::Relaxed) && fastrand::usize(..one_in) == 0;
                is_cut.then(|| fastrand::usize(..chunk.len()))
            }
            Fault::CutAnswer { .. } | Fault::Nothing => None,
        }
    };
    let cut_answer = move |chunk: &[u8]| {
        let is_commit =
            has_appended.load(Ordering::Relaxed) && COMMITTED.iter().any(|answer| contains(chunk, answer));
        commits.fetch_or(is_commit, Ordering::Relaxed);
        let Fault::CutAnswer { one_in } = fault else { return None };
        (is_commit && fastrand::usize(..one_in) == 0).then_some(0)
    };
    forward(client, server, is_stalled, cuts, cut_request);
    forward(server, client, is_stalled, cuts, cut_answer);
}

fn contains(chunk: &[u8], text: &[u8]) -> bool {
    chunk.windows(text.len()).any(|window| window == text)
}

/// Copies bytes until an end is closed or `cut` returns a number. The number is the length of the last part of the
/// chunk to be copied.
fn forward(
    from: &UnixStream,
    to: &UnixStream,
    is_stalled: &Arc<AtomicBool>,
    cuts: &Arc<AtomicUsize>,
    cut: impl Fn(&[u8]) -> Option<usize> + Send + 'static,
) {
    let (is_stalled, cuts) = (Arc::clone(is_stalled), Arc::clone(cuts));
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            while is_stalled.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(5));
            }
            let chunk = &buffer[..length];
            let cut = cut(chunk);
            cuts.fetch_add(cut.is_some().into(), Ordering::Relaxed);
            if to.write_all(&chunk[..cut.unwrap_or(length)]).is_err() || cut.is_some() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}
