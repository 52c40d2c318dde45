use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use toposcope::inventory;

/// Why the program ends: a sentence for whoever started it, and the code it ends with.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    /// What was asked for cannot be done: code 1.
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 1 }
    }

    /// The same, with the error that is to blame.
    pub(crate) fn because(text: impl fmt::Display, error: &(dyn Error + 'static)) -> Self {
        Self::new(format!("{text}: {}.", root(error).to_string().trim_end_matches('.')))
    }

    /// It is not clear what is asked for: code 2, as of most command-line tools.
    pub(crate) fn usage(text: impl fmt::Display) -> Self {
        Self { text: format!("{text} (--help lists the flags)."), code: 2 }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The error behind all others: that the disk is full says more than that the store is not there.
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
        Self::because("The inventory cannot be set up", &error)
    }
}
