//! Exports, restores, verifies or repairs the folder of a `SledStore` that no server is using.
//!
//! ```text
//! cargo run --release --example folder -- export toposcope-data inventory.jsonl
//! cargo run --release --example folder -- restore another-folder < inventory.jsonl
//! cargo run --release --example folder -- verify toposcope-data
//! cargo run --release --example folder -- repair toposcope-data
//! ```
//!
//! An export contains digests of keys and hashes of passwords: protect it like a secret. On Unix, the export file and the
//! restored folder are readable by their owner only. A server can export its own store while it is running, with the same
//! few lines as here.

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

  export   write all records in the folder to a new file, or to standard output, as JSON lines
  restore  read an export from standard input into a new folder
  verify   check all data in the folder and report damage
  repair   recover the readable records of a folder that can no longer be opened (copy the folder first)
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
        return Err("An export is not written to a terminal: specify a file.".into());
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

/// Creates a new file, readable by its owner only on Unix.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Warns if standard output is a file that other users may read.
#[cfg(unix)]
fn warn_if_open_to_others() -> io::Result<()> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;

    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?).metadata()?;
    if output.is_file() && output.permissions().mode() & 0o077 != 0 {
        tell(
            "Other users can read this export. Run `umask 077` first, or pass the file name after the folder.",
        );
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
    tell("The original records are in records.damaged; delete that folder when you no longer need it.");
    Ok(if repair.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Opens an existing folder. `SledStore::open` would create a missing one.
async fn open(folder: &Path) -> Result<SledStore, Box<dyn Error>> {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder.", folder.display()).into());
    }
    Ok(SledStore::open(folder).await?)
}

/// Returns a callback that reports progress at most once per second.
fn progress(what: &str) -> impl FnMut(&TransferReport) {
    let mut told = Instant::now();
    move |report| {
        if told.elapsed() >= Duration::from_secs(1) {
            told = Instant::now();
            tell(&format!("{} records {what} …", report.records));
        }
    }
}

/// Formats an error with all its sources.
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

/// Prints a line to standard error, and ignores an error if that is closed.
fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}
