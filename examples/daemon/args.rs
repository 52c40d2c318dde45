//! The program's arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use super::failure::Failure;
use super::secrets::{SECRETS_USAGE, SecretFlags, variable};
use super::work::Settings;

const USAGE: &str = "\
Usage: cargo run --features client,collect --example daemon -- [FLAG]… [ADDRESS]…

  ADDRESS              an address to begin with, besides those in the subnets that are in use
  --server URL         the service that has the work [required]
  --key-env VAR        the environment variable with a daemon key of the service [required]
  --within CIDR        devices in this prefix may be asked, and no others; repeatable, or separated by commas [required]
  --state FILE         the file with the daemon's id, and with what the next work needs [daemon.json]
  --name NAME          the name of the daemon in the service [collector]
";

/// Returns the text for `--help`.
pub(crate) fn usage() -> String {
    [USAGE, SECRETS_USAGE, "  --help               print this help\n"].concat()
}

/// The parsed command line.
pub(crate) struct Args {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) state: PathBuf,
    pub(crate) settings: Settings,
}

impl Args {
    /// Parses the arguments; `None` if they ask for help.
    pub(crate) fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, Failure> {
        let mut arguments = arguments.map(|argument| {
            argument.into_string().map_err(|_| Failure::usage("An argument is not valid Unicode"))
        });
        let (mut url, mut key, mut secrets) = (None, None, SecretFlags::default());
        let (mut name, mut state) = ("collector".to_owned(), PathBuf::from("daemon.json"));
        let (mut seeds, mut within) = (Vec::new(), Vec::new());
        while let Some(argument) = arguments.next().transpose()? {
            let mut value = || {
                let value = arguments.next().transpose()?.filter(|value| !value.is_empty());
                value.ok_or_else(|| Failure::usage(format_args!("{argument} requires a value")))
            };
            if secrets.take(&argument, &mut value)? {
                continue;
            }
            match argument.as_str() {
                "--help" | "-h" => return Ok(None),
                "--server" => url = Some(value()?),
                "--key-env" => key = Some(variable(&value()?)?),
                "--within" => within.push(value()?),
                "--state" => state = PathBuf::from(value()?),
                "--name" => name = value()?,
                flag if flag.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {flag}")));
                }
                address => {
                    let wrong = |_| Failure::usage(format_args!("{argument} is not an address"));
                    seeds.push(address.parse().map_err(wrong)?);
                }
            }
        }
        let required = |flag| move || Failure::usage(format_args!("{flag} is required"));
        let (url, key) = (url.ok_or_else(required("--server"))?, key.ok_or_else(required("--key-env"))?);
        let settings = Settings::new(name, &within.join(","), seeds, secrets.secrets()?)?;
        Ok(Some(Self { url, key, state, settings }))
    }
}
