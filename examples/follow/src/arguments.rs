//! The command line.

use std::fs;
use std::path::PathBuf;

use http::Uri;

use crate::Error;
use crate::signature::Secret;

/// The output of `--help`.
pub const HELP: &str = "\
Keeps a copy of a network inventory in an SQLite database, and posts each change to a URL.

Usage: follow --url URL --key-file FILE --database FILE [--webhook URL --secret-file FILE]

  --url URL           address of the inventory: what precedes /api
  --key-file FILE     file with an API key of an Admin or Owner, for all networks: other keys do not see all changes
  --database FILE     SQLite database of the copy; created if it does not exist
  --webhook URL       address to which each change is posted as JSON, in order, until it answers with a status of 200 to 299
  --secret-file FILE  file with the secret that signs the posts, by the rules of standardwebhooks.com: \"whsec_\" and Base64
  --help              print this help

Hosts with their parts, networks, subnets and tags are in the table `record`, as JSON:

  sqlite3 copy.sqlite \"SELECT document ->> 'name' FROM record WHERE entity = 'Host'\"

Press Ctrl-C to stop the program. However it ends, it goes on where it was.
";

/// The command that the arguments state.
#[derive(Debug)]
pub enum Command {
    /// Print the help.
    Help,
    /// Follow an inventory.
    Follow(Arguments),
}

/// The options of following.
#[derive(Debug)]
pub struct Arguments {
    /// The address of the inventory.
    pub url: String,
    /// The API key.
    pub key: String,
    /// The file of the database.
    pub database: PathBuf,
    /// The address for webhooks and their secret.
    pub webhook: Option<(Uri, Secret)>,
}

impl Command {
    /// Reads the command line, and the files with secrets.
    ///
    /// # Errors
    /// The fault of the command line, with the correction.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Error> {
        let [mut url, mut key_file, mut database, mut webhook, mut secret_file] = [const { None }; 5];
        let mut arguments = arguments.into_iter();
        while let Some(flag) = arguments.next() {
            let value = match flag.as_str() {
                "--help" => return Ok(Self::Help),
                "--url" => &mut url,
                "--key-file" => &mut key_file,
                "--database" => &mut database,
                "--webhook" => &mut webhook,
                "--secret-file" => &mut secret_file,
                _ => return Err(usage(format_args!("{flag} is no flag"))),
            };
            *value = Some(arguments.next().ok_or_else(|| usage(format_args!("{flag} needs a value")))?);
        }
        let missing = |flag: &str| usage(format_args!("{flag} is missing"));
        let webhook = match (webhook, secret_file) {
            (Some(url), Some(file)) => Some((webhook_url(&url)?, read_secret(&file)?)),
            (None, None) => None,
            (Some(_), None) => return Err(usage("--webhook needs --secret-file")),
            (None, Some(_)) => return Err(usage("--secret-file needs --webhook")),
        };
        Ok(Self::Follow(Arguments {
            url: url.ok_or_else(|| missing("--url"))?,
            key: read_key(&key_file.ok_or_else(|| missing("--key-file"))?)?,
            database: database.ok_or_else(|| missing("--database"))?.into(),
            webhook,
        }))
    }
}

fn usage(text: impl std::fmt::Display) -> Error {
    Error::Other(format!("{text} (--help lists the flags)."))
}

fn webhook_url(text: &str) -> Result<Uri, Error> {
    let url: Option<Uri> = text.parse().ok();
    let url =
        url.filter(|url| matches!(url.scheme_str(), Some("http" | "https")) && url.authority().is_some());
    url.ok_or_else(|| Error::Other(format!("{text} at --webhook must be an address with http or https.")))
}

fn read_key(file: &str) -> Result<String, Error> {
    let advice = "Create a key in the inventory as an Admin or Owner, and write it into the file.";
    let key = read(file, advice)?;
    if key.is_empty() { Err(Error::Other(format!("{file} is empty. {advice}"))) } else { Ok(key) }
}

fn read_secret(file: &str) -> Result<Secret, Error> {
    let advice = format!("Create one with: echo whsec_$(head -c 32 /dev/urandom | base64) > {file}");
    let secret = read(file, &advice)?;
    secret.parse().map_err(|error| Error::Other(format!("{file} has no secret: {error}. {advice}")))
}

fn read(file: &str, advice: &str) -> Result<String, Error> {
    let read = fs::read_to_string(file).map(|text| text.trim().to_owned());
    read.map_err(|error| Error::Other(format!("{file} cannot be read: {error}. {advice}")))
}
