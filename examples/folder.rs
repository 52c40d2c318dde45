//! What is done with the folder of a store while no server has it: export, restore, verify, repair.
//!
//! ```text
//! cargo run --release --example folder -- export toposcope-data > inventory.jsonl
//! cargo run --release --example folder -- restore another-folder < inventory.jsonl
//! cargo run --release --example folder -- verify toposcope-data
//! cargo run --release --example folder -- repair toposcope-data
//! ```
//!
//! An export holds digests of keys and hashes of passwords: keep it like a secret. A server exports its own store while it
//! serves, by the same few lines as here.

use std::env;
use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::io::{BufReader, BufWriter, stdin, stdout};
use toposcope::store::{Export, Restore, SledStore, TransferReport};

const USAGE: &str = "\
Usage: cargo run --example folder -- export|restore|verify|repair DIR

  export   write everything that is in the folder to standard output, as JSON lines
  restore  read such lines from standard input into a new folder
  verify   read everything in the folder, and tell what is damaged
  repair   save what can be saved out of a folder that does not open any more (copy the folder first)
";

type Outcome = Result<ExitCode, Box<dyn Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [command, folder] = arguments.as_slice() else { return misused() };
    let folder = PathBuf::from(folder);
    let outcome = match command.to_str() {
        Some("export") => export(&folder).await,
        Some("restore") => restore(&folder).await,
        Some("verify") => verify(&folder).await,
        Some("repair") => repair(&folder).await,
        _ => return misused(),
    };
    outcome.unwrap_or_else(|error| {
        tell(&chain(&*error));
        ExitCode::FAILURE
    })
}

async fn export(folder: &Path) -> Outcome {
    if io::stdout().is_terminal() {
        return Err("An export is not for a terminal: send it to a file with > FILE.".into());
    }
    let store = open(folder).await?;
    let export = Export::new().on_progress(progress("exported"));
    let report = export.write(&store, BufWriter::new(stdout())).await?;
    store.close().await?;
    tell(&format!("{} records exported.", report.records));
    Ok(ExitCode::SUCCESS)
}

async fn restore(folder: &Path) -> Outcome {
    let store = SledStore::open(folder).await?;
    let restore = Restore::new().on_progress(progress("restored"));
    let report = restore.read(&store, BufReader::new(stdin())).await?;
    store.close().await?;
    tell(&format!("{} records restored.", report.records));
    Ok(ExitCode::SUCCESS)
}

async fn verify(folder: &Path) -> Outcome {
    let store = open(folder).await?;
    let verification = store.verify().await?;
    store.close().await?;
    tell(&verification.to_string());
    Ok(if verification.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn repair(folder: &Path) -> Outcome {
    let repair = SledStore::repair(folder).await?;
    tell(&repair.to_string());
    tell("What was there before is in records.damaged; delete it when it is not needed any more.");
    Ok(if repair.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// To open a folder that is not there would make one.
async fn open(folder: &Path) -> Result<SledStore, Box<dyn Error>> {
    if !folder.is_dir() {
        return Err(format!("{} is no folder.", folder.display()).into());
    }
    Ok(SledStore::open(folder).await?)
}

/// Tells once a second how far it is.
fn progress(what: &str) -> impl FnMut(&TransferReport) {
    let mut told = Instant::now();
    move |report| {
        if told.elapsed() >= Duration::from_secs(1) {
            told = Instant::now();
            tell(&format!("{} records {what} …", report.records));
        }
    }
}

/// An error with all that it comes from.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

fn misused() -> ExitCode {
    tell(USAGE.trim_end());
    ExitCode::from(2)
}

/// Prints a line to standard error. Where that is closed, there is nobody to tell.
fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
