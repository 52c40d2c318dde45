//! Exports, restores and copies stores of any backend, verifies or repairs a folder, and sets passwords of users.
//!
//! The folder is one of a `SledStore`.
//!
//! ```text
//! cargo run --release --example store -- export folder:toposcope-data inventory.jsonl
//! cargo run --release --example store -- restore folder:another-folder < inventory.jsonl
//! cargo run --release --features postgres --example store -- copy folder:toposcope-data postgres://user@host/database
//! cargo run --release --example store -- verify folder:toposcope-data
//! cargo run --release --example store -- compact folder:toposcope-data
//! cargo run --release --example store -- repair folder:toposcope-data
//! cargo run --release --example store -- set-password folder:toposcope-data owner@example.net < password.txt
//! ```
//!
//! An export contains digests of keys and hashes of passwords: protect it like a secret. On Unix, the export file and a
//! restored folder are readable by their owner only. No server may use a folder meanwhile; a PostgreSQL database can be
//! exported while servers use it. A server can export its own store while it is running, with the same few lines as
//! here.

use std::env;
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, BufWriter, duplex, stdin, stdout};
use tokio::try_join;
use toposcope::Inventory;
#[cfg(feature = "postgres")]
use toposcope::store::PostgresStore;
use toposcope::store::{Export, MemoryStore, Restore, SledStore, Store, StoreError, TransferReport};

const USAGE: &str = "\
Usage: cargo run --example store -- export STORE [FILE]
       cargo run --example store -- restore STORE
       cargo run --example store -- copy STORE STORE
       cargo run --example store -- verify|compact|repair folder:DIR
       cargo run --example store -- set-password STORE EMAIL

  export   write all records of a store to a new file, or to standard output, as JSON lines
  restore  read an export from standard input into an empty store
  copy     write all records of the first store to the second one, which must be empty
  verify   check all data in a folder and report damage
  compact  write a folder again without the space that is no longer used (needs space for one more copy)
  repair   recover the readable records of a folder that can no longer be opened (copy the folder first)
  set-password  set the password of a user to the first line of standard input, and end the user's sessions

A STORE is one of:

  folder:DIR              a folder; restore and copy create it
  postgres://USER@HOST/…  a PostgreSQL database (build with --features postgres)
  memory:                 only to restore and copy to: checks that an export, or a store, is complete and readable
";

/// Maximum size of a password and the end of its line, in bytes: 1,000 characters of up to 4 bytes.
const MAX_PASSWORD: u64 = 4_002;

/// Size of the buffer between the two sides of a copy, in bytes.
const COPY_BUFFER: usize = 1 << 20;

type Outcome = Result<ExitCode, Box<dyn Error>>;

/// The place of a store, as given on the command line.
pub(crate) enum Place {
    Memory,
    Folder(PathBuf),
    Postgres(String),
}

/// An open store. A further backend is a further arm.
enum Backend {
    Memory(Arc<MemoryStore>),
    Folder(Arc<SledStore>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<PostgresStore>),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Ok(arguments) = env::args_os().skip(1).map(|argument| argument.into_string()).collect() else {
        return misused();
    };
    let arguments: Vec<String> = arguments;
    let [command, place, others @ ..] = arguments.as_slice() else { return misused() };
    let Some(place) = Place::parse(place) else { return misused() };
    let outcome = match (command.as_str(), others, place) {
        ("export", [], place) => export(&place, None).await,
        ("export", [file], place) => export(&place, Some(Path::new(file))).await,
        ("restore", [], place) => restore(&place).await,
        ("copy", [target], place) => match Place::parse(target) {
            Some(target) => copy(&place, &target).await,
            None => return misused(),
        },
        ("set-password", [email], place) => set_password(&place, email, stdin()).await,
        ("verify", [], Place::Folder(folder)) => verify(&folder).await,
        ("compact", [], Place::Folder(folder)) => compact(&folder).await,
        ("repair", [], Place::Folder(folder)) => repair(&folder).await,
        _ => return misused(),
    };
    outcome.unwrap_or_else(|error| {
        tell(&chain(&*error));
        ExitCode::FAILURE
    })
}

impl Place {
    /// Parses a place by its scheme.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        match scheme {
            "memory" if rest.is_empty() => Some(Self::Memory),
            "folder" if !rest.is_empty() => Some(Self::Folder(rest.into())),
            "postgres" | "postgresql" => Some(Self::Postgres(text.to_owned())),
            _ => None,
        }
    }

    /// Opens an existing store. `SledStore::open` would create a missing folder.
    async fn open_source(&self) -> Result<Backend, Box<dyn Error>> {
        match self {
            Self::Memory => Err("A store in memory is always empty: it cannot be read from.".into()),
            Self::Folder(folder) if !folder.is_dir() => {
                Err(format!("{} is not a folder.", folder.display()).into())
            }
            _ => self.open_target().await,
        }
    }

    /// Opens a store, and creates it if it does not exist.
    async fn open_target(&self) -> Result<Backend, Box<dyn Error>> {
        Ok(match self {
            Self::Memory => Backend::Memory(Arc::default()),
            Self::Folder(folder) => Backend::Folder(Arc::new(SledStore::open(folder).await?)),
            Self::Postgres(url) => open_database(url).await?,
        })
    }
}

#[cfg(feature = "postgres")]
async fn open_database(url: &str) -> Result<Backend, Box<dyn Error>> {
    Ok(Backend::Postgres(Arc::new(PostgresStore::open(url).await?)))
}

#[cfg(not(feature = "postgres"))]
async fn open_database(_: &str) -> Result<Backend, Box<dyn Error>> {
    Err("PostgreSQL is not part of this build. Build with --features postgres.".into())
}

impl Backend {
    fn store(&self) -> &dyn Store {
        match self {
            Self::Memory(store) => store,
            Self::Folder(store) => store,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store,
        }
    }

    fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as _,
            Self::Folder(store) => Arc::clone(store) as _,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => Arc::clone(store) as _,
        }
    }

    async fn close(&self) -> Result<(), StoreError> {
        match self {
            Self::Memory(_) => Ok(()),
            Self::Folder(store) => store.close().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.close().await,
        }
    }
}

pub(crate) async fn export(place: &Place, file: Option<&Path>) -> Outcome {
    if file.is_none() && io::stdout().is_terminal() {
        return Err("An export is not written to a terminal: specify a file.".into());
    }
    let source = place.open_source().await?;
    let export = Export::new().on_progress(progress("exported"));
    let report = match file {
        Some(path) => {
            let file = create_private(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let mut file = tokio::fs::File::from_std(file);
            let report = export.write(source.store(), BufWriter::new(&mut file)).await?;
            file.sync_all().await?;
            report
        }
        None => {
            warn_if_open_to_others()?;
            export.write(source.store(), BufWriter::new(stdout())).await?
        }
    };
    source.close().await?;
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
            "Other users can read this export. Run `umask 077` first, or pass the file name after the store.",
        );
    }
    Ok(())
}

#[cfg(not(unix))]
fn warn_if_open_to_others() -> io::Result<()> {
    Ok(())
}

async fn restore(place: &Place) -> Outcome {
    let target = place.open_target().await?;
    let restore = Restore::new().on_progress(progress("restored"));
    let report = restore.read(target.store(), BufReader::new(stdin())).await?;
    target.close().await?;
    tell(&format!("{} records restored.", report.records));
    Ok(ExitCode::SUCCESS)
}

/// Restores an export while it is written. Any store can therefore be copied with memory for a few chunks.
pub(crate) async fn copy(from: &Place, to: &Place) -> Outcome {
    let source = from.open_source().await?;
    let target = to.open_target().await?;
    let (writer, reader) = duplex(COPY_BUFFER);
    // The first side to fail has the cause: the other one only loses its peer.
    let (_, report) = try_join!(
        Export::new().write(source.store(), writer),
        Restore::new().on_progress(progress("copied")).read(target.store(), reader),
    )?;
    target.close().await?;
    source.close().await?;
    tell(&format!("{} records copied.", report.records));
    Ok(ExitCode::SUCCESS)
}

/// Sets the password of a user to the first line of the input.
pub(crate) async fn set_password(place: &Place, email: &str, input: impl AsyncRead + Unpin) -> Outcome {
    let mut password = String::new();
    BufReader::new(input.take(MAX_PASSWORD)).read_line(&mut password).await?;
    let source = place.open_source().await?;
    let inventory = Inventory::new(source.shared());
    let outcome =
        inventory.users().set_password_of(email, password.trim_end_matches(['\r', '\n']).to_owned()).await;
    source.close().await?;
    let user = outcome?;
    tell(&format!("The password of {} was set, and all sessions of the user have ended.", user.email));
    Ok(ExitCode::SUCCESS)
}

async fn verify(folder: &Path) -> Outcome {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder.", folder.display()).into());
    }
    let store = SledStore::open(folder).await?;
    let verification = store.verify().await?;
    store.close().await?;
    tell(&verification.to_string());
    Ok(if verification.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(crate) async fn compact(folder: &Path) -> Outcome {
    if !folder.is_dir() {
        return Err(format!("{} is not a folder.", folder.display()).into());
    }
    let compaction = SledStore::compact(folder).await?;
    tell(&format!("{} bytes before, {} bytes now.", compaction.bytes_before, compaction.bytes_after));
    Ok(ExitCode::SUCCESS)
}

async fn repair(folder: &Path) -> Outcome {
    let repair = SledStore::repair(folder).await?;
    tell(&repair.to_string());
    if folder.join("records.damaged").exists() {
        tell("The original records are in records.damaged; delete that folder when you no longer need it.");
    }
    Ok(if repair.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
