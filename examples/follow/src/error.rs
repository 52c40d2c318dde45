use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use toposcope::client::{ClientError, ClientErrorKind};
use toposcope::wire::ErrorCode;

/// The reason why following ends, or pauses. Its text states the next step.
#[derive(Debug)]
pub enum Error {
    /// A request to the inventory.
    Client(ClientError),
    /// The SQLite database.
    Database(rusqlite::Error),
    /// A document that does not have the form of its kind of records.
    Document(serde_json::Error),
    /// A complete sentence for the user.
    Other(String),
}

impl Error {
    /// Returns whether a repetition may succeed later by itself.
    pub(crate) fn may_pass(&self) -> bool {
        let Self::Client(error) = self else { return false };
        let status = error.status().map(|status| status.as_u16());
        error.kind() == ClientErrorKind::Transport || matches!(status, Some(408 | 429 | 500..))
    }

    /// Returns whether the history has no entry with the position of the copy. It was removed, or the inventory is another one.
    pub(crate) fn is_position_gone(&self) -> bool {
        let Self::Client(error) = self else { return false };
        matches!(error.code(), Some(ErrorCode::PositionGone | ErrorCode::ValidationInvalidFormat))
    }

    pub(crate) fn retry_after(&self) -> Option<Duration> {
        let Self::Client(error) = self else { return None };
        error.retry_after()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => {
                match root(error) {
                    Some(cause) => {
                        write!(formatter, "{}: {cause}.", error.to_string().trim_end_matches('.'))?
                    }
                    None => write!(formatter, "{error}")?,
                }
                formatter.write_str(advice(error))
            }
            Self::Database(error) => write!(
                formatter,
                "The database cannot be used: {error}. Its contents stay. Mend the cause and start the program again, and it \
                 continues from there; or name another file with --database, and it copies everything."
            ),
            Self::Document(error) => write!(
                formatter,
                "A record of the inventory cannot be read: {error}. Build this program with the version of the server."
            ),
            Self::Other(text) => formatter.write_str(text),
        }
    }
}

/// Returns the advice for an error of the client that is not temporary.
fn advice(error: &ClientError) -> &'static str {
    match (error.code(), error.kind()) {
        (Some(ErrorCode::AuthNotAuthenticated), _) => " Write a valid API key into the file at --key-file.",
        (Some(ErrorCode::RouteNotFound), _) | (_, ClientErrorKind::UnexpectedResponse) => {
            " Is --url what precedes /api in the addresses of the inventory, and this program not older than the server?"
        }
        _ => "",
    }
}

/// Returns the innermost source: "connection refused" is more useful than "client error (Connect)".
fn root<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    let mut root = error.source()?;
    while let Some(source) = root.source() {
        root = source;
    }
    Some(root)
}

impl StdError for Error {}

impl From<ClientError> for Error {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Document(error)
    }
}
