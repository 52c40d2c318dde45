use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use toposcope::inventory;

/// The reason why the program exits: a message for the user and an exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// Creates a runtime failure, with exit code 1.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 1 }
    }

    /// Creates a runtime failure with its cause, with exit code 1.
    pub(crate) fn because(text: impl fmt::Display, error: &(dyn Error + 'static)) -> Self {
        Self::new(format!("{text}: {}.", root(error).to_string().trim_end_matches('.')))
    }

    /// Creates a usage failure, with exit code 2.
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self { text: format!("{text} (--help lists the flags)."), code: 2 }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// Returns the innermost source: "disk full" is more useful than "store unavailable".
fn root<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    root
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<inventory::Error> for Failure {
    fn from(error: inventory::Error) -> Self {
        Self::because("Failed to set up the inventory", &error)
    }
}
