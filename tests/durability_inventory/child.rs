use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use toposcope::inventory::{Import, ImportReport, Inventory};
use toposcope::store::{Durability, SledStore};
use uuid::Uuid;

use crate::home::Home;
use crate::random::Random;

const FOLDER: &str = "TOPOSCOPE_IMPORT_FOLDER";
const INPUT: &str = "TOPOSCOPE_IMPORT_INPUT";
const ORGANIZATION: &str = "TOPOSCOPE_IMPORT_ORGANIZATION";
const BUFFERED: &str = "TOPOSCOPE_IMPORT_BUFFERED";

/// Prefix of the child's own lines: the test harness writes to the same output.
const MARK: &str = "~ ";
const STORED: &str = "stored.";
/// Prefix of the last line.
const DONE: &str = "done: ";

/// Approximate time that a chunk takes, in microseconds.
const CHUNK_MICROS: usize = 100_000;

/// Far longer than a chunk takes.
const FOR_EVER: Duration = Duration::from_secs(60);

/// A process that imports the inventory.
pub(crate) struct Child {
    process: process::Child,
    lines: Receiver<String>,
}

impl Child {
    pub(crate) fn start(home: &Home) -> Self {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["child::the_import_that_is_killed", "--exact", "--ignored", "--nocapture"]);
        command.env(FOLDER, home.folder()).env(INPUT, home.input());
        command.env(ORGANIZATION, home.organization.to_string());
        if home.durability == Durability::Buffered {
            command.env(BUFFERED, "");
        }
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let (said, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(MARK) {
                    // The receiver is gone once the parent has heard enough.
                    let _ = said.send(line.to_owned());
                }
            }
        });
        Self { process, lines }
    }

    /// Kills the process some time after this many chunks were stored. Returns how many were stored by then.
    pub(crate) fn kill_after(mut self, chunks: usize, random: &mut Random) -> usize {
        for _ in 0..chunks {
            assert_eq!(self.lines.recv_timeout(FOR_EVER).unwrap(), STORED);
        }
        let more = Duration::from_micros(u64::try_from(random.below(CHUNK_MICROS)).unwrap());
        let one_more = self.lines.recv_timeout(more).is_ok_and(|line| line == STORED);
        self.process.kill().unwrap();
        chunks + usize::from(one_more) + self.rest()
    }

    /// Kills the process when the import is done. Returns its report.
    pub(crate) fn kill_at_end(mut self) -> String {
        let report = self.lines.iter().find_map(|line| line.strip_prefix(DONE).map(str::to_owned));
        self.process.kill().unwrap();
        report.unwrap()
    }

    /// Returns the number of further chunks that the process reported before it ended.
    fn rest(&mut self) -> usize {
        self.process.wait().unwrap();
        self.lines.iter().filter(|line| line == STORED).count()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn say(line: &str) {
    // A single write arrives whole or not at all.
    let mut output = std::io::stdout().lock();
    output.write_all(format!("{MARK}{line}\n").as_bytes()).unwrap();
    output.flush().unwrap();
}

/// Summarizes the report of an import over an earlier, interrupted one.
pub(crate) fn in_short(report: &ImportReport) -> String {
    let ImportReport { lines, imported, refused, replaced, alterations, .. } = report;
    format!("{lines} lines, {imported} imported, {refused} refused, {alterations:?}, {replaced} replaced")
}

async fn import(folder: &Path, input: &[u8], organization: Uuid, durability: Durability) {
    let store = SledStore::builder(folder).durability(durability).open().await.unwrap();
    let import = Import::new().create_missing_networks().on_progress(|_| say(STORED));
    let inventory = Inventory::new(store);
    let report = inventory.import_hosts(organization, input, import).await.unwrap();
    say(&format!("{DONE}{}", in_short(&report)));
    // Keep the store open until the process is killed.
    std::future::pending::<()>().await;
}

#[test]
#[ignore = "it is what a process of its own does, which is killed"]
fn the_import_that_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let input = fs::read(env::var_os(INPUT).unwrap()).unwrap();
    let organization = env::var(ORGANIZATION).unwrap().parse().unwrap();
    let buffered = env::var_os(BUFFERED).is_some();
    let durability = if buffered { Durability::Buffered } else { Durability::Durable };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(import(folder.as_ref(), &input, organization, durability));
}
