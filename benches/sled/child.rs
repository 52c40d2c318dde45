//! A child process with an open store.
//!
//! It is used to measure the memory of the store, and it is killed to measure the next opening.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use toposcope::store::{Entry, SledStore, Store};

use crate::memory::{forget_peak, memory};
use crate::record::put_all;

/// First argument of a child process; the folder follows.
pub(crate) const CHILD: &str = "child";

/// Size of the child's body cache, in bytes. It is small, so that the measured memory is used by everything else.
const CACHE: usize = 1 << 20;

/// Answer of a child to each command: a line of numbers.
type Numbers = Vec<u64>;

/// A store that a child process has open.
#[derive(Debug)]
pub(crate) struct Opened {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// How long the store took to open.
    pub(crate) time: Duration,
    /// Memory of the process before it opened the store, in bytes. `grown` and `peak` are the growth after opening and
    /// the peak growth.
    pub(crate) before: u64,
    pub(crate) grown: u64,
    pub(crate) peak: u64,
}

impl Opened {
    pub(crate) fn new(folder: &Path) -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg(CHILD)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = process.stdin.take().ok_or("the child does not listen")?;
        let mut answers = BufReader::new(process.stdout.take().ok_or("the child is silent")?);
        let numbers = answer(&mut answers)?;
        let [micros, before, after, peak] = numbers[..] else {
            return Err("the child said too little".into());
        };
        let time = Duration::from_micros(micros);
        Ok(Self { process, commands, answers, time, before, grown: after - before, peak: peak - before })
    }

    /// Rewrites this many records in the child, and returns when all of them are acknowledged.
    pub(crate) fn rewrite(&mut self, records: usize) -> Result<(), Box<dyn Error>> {
        self.ask(&format!("rewrite {records}")).map(|_| ())
    }

    /// Reads every record in the child. Returns its memory growth since before it opened the store, in bytes.
    pub(crate) fn read(&mut self) -> Result<u64, Box<dyn Error>> {
        let numbers = self.ask("read")?;
        Ok(numbers.first().map_or(0, |now| now - self.before))
    }

    pub(crate) fn close(mut self) -> Result<(), Box<dyn Error>> {
        self.ask("close")?;
        self.process.wait()?;
        Ok(())
    }

    pub(crate) fn kill(mut self) -> io::Result<()> {
        self.process.kill()?;
        self.process.wait().map(|_| ())
    }

    fn ask(&mut self, command: &str) -> Result<Numbers, Box<dyn Error>> {
        writeln!(self.commands, "{command}")?;
        answer(&mut self.answers)
    }
}

fn answer(answers: &mut impl BufRead) -> Result<Numbers, Box<dyn Error>> {
    let mut line = String::new();
    answers.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err("the child is gone".into());
    }
    Ok(line.split_whitespace().map(str::parse).collect::<Result<_, _>>()?)
}

/// Runs in the child: opens the folder, then executes commands.
pub(crate) async fn run(folder: PathBuf) -> Result<(), Box<dyn Error>> {
    let before = memory("VmRSS:")?;
    forget_peak()?;
    let start = Instant::now();
    let store = SledStore::builder(folder).cache_size(CACHE).open().await?;
    let micros = start.elapsed().as_micros();
    println!("{micros} {before} {} {}", memory("VmRSS:")?, memory("VmHWM:")?);
    for command in io::stdin().lines() {
        let command = command?;
        let mut words = command.split(' ');
        match (words.next(), words.next()) {
            (Some("rewrite"), Some(records)) => {
                put_all(&store, &first(&store, records.parse()?).await?).await?;
                println!();
            }
            (Some("read"), _) => {
                let mut snapshot = store.snapshot().await?;
                while !snapshot.next(usize::MAX).await?.is_empty() {}
                drop(snapshot);
                println!("{}", memory("VmRSS:")?);
            }
            _ => {
                store.close().await?;
                println!();
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn first(store: &SledStore, records: usize) -> Result<Vec<Entry>, Box<dyn Error>> {
    let mut snapshot = store.snapshot().await?;
    let mut entries = Vec::new();
    while entries.len() < records {
        let next = snapshot.next(records - entries.len()).await?;
        if next.is_empty() {
            break;
        }
        entries.extend(next);
    }
    Ok(entries)
}
