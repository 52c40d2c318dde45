//! Exports, restores, verifies and repairs the folder of a store while no server uses it.
//!
//! ```text
//! cargo run --release --example folder -- export toposcope-data inventory.jsonl
//! cargo run --release --example folder -- restore another-folder < inventory.jsonl
//! cargo run --release --example folder -- verify toposcope-data
//! cargo run --release --example folder -- repair toposcope-data
//! ```
//!
//! An export holds digests of keys and hashes of passwords: keep it like a secret. On Unix, only the owner may read the
//! file that is named, and the folder of a restored store. A server exports its own store while it serves, by the same few
//! lines as here.

use std::env;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::io::{BufReader, BufWriter, stdin, stdout};
use toposcope::store::{Export, Restore, SledStore, TransferReport};

const USAGE: &str = "\
Usage: cargo run --example folder -- export DIR [FILE]
       cargo run --example folder -- restore|verify|repair DIR

  export   write everything that is in the folder to a new file, or to standard output, as JSON lines
  restore  read such lines from standard input into a new folder
  verify   read everything in the folder, and tell what is damaged
  repair   save what can be saved out of a folder that does not open any more (copy the folder first)
";

type Outcome = Result<ExitCode, Box<dyn Error>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let [command, folder, file @ ..] = arguments.as_slice() else { return misused() };
    let folder = PathBuf::from(folder);
    let outcome = match (command.to_str(), file) {
        (Some("export"), []) => export(&folder, None).await,
        (Some("export"), [file]) => export(&folder, Some(Path::new(file))).await,
        (Some("restore"), []) => restore(&folder).await,
        (Some("verify"), []) => verify(&folder).await,
        (Some("repair"), []) => repair(&folder).await,
        _ => return misused(),
    };
    outcome.unwrap_or_else(|error| {
        tell(&chain(&*error));
        ExitCode::FAILURE
    })
}

pub(crate) async fn export(folder: &Path, file: Option<&Path>) -> Outcome {
    if file.is_none() && io::stdout().is_terminal() {
        return Err("An export is not for a terminal: name a file.".into());
    }
    let store = open(folder).await?;
    let export = Export::new().on_progress(progress("exported"));
    let report = match file {
        Some(path) => {
            let file = create_private(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut file = tokio::fs::File::from_std(file);
            let report = export.write(&store, BufWriter::new(&mut file)).await?;
            file.sync_all().await?;
            report
        }
        None => {
            warn_if_open_to_others()?;
            export.write(&store, BufWriter::new(stdout())).await?
        }
    };
    store.close().await?;
    tell(&format!("{} records exported.", report.records));
    Ok(ExitCode::SUCCESS)
}

/// Makes a file that only its owner may read, where the system knows owners.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Warns when standard output is a file that other users may read.
#[cfg(unix)]
fn warn_if_open_to_others() -> io::Result<()> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;

    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    if output.is_file() && output.permissions().mode() & 0o077 != 0 {
        tell("Other users may read the export: run `umask 077` before, or name a file after the folder.");
    }
    Ok(())
}

#[cfg(not(unix))]
fn warn_if_open_to_others() -> io::Result<()> {
    Ok(())
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
