//! The command-line flags of the example servers.

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(feature = "discovery")]
use toposcope::discovery::Format;

use super::failure::Failure;
#[cfg(feature = "discovery")]
pub(crate) use super::reports::ReportFile;

/// A file with a report.
#[cfg(not(feature = "discovery"))]
pub(crate) type ReportFile = std::convert::Infallible;

/// The output of `--help` after the usage line.
pub(crate) const HELP: &str = "\
Serves a network inventory over HTTP. The inventory is stored in a folder and survives restarts.

  --listen ADDR          address and port to listen on [127.0.0.1:8080]; port 0 chooses a free port
  --data DIR             folder of the inventory [toposcope-data]; created if it does not exist
  --memory               store the inventory in memory only, instead of in a folder
  --postgres URL         store the inventory in a PostgreSQL database, which servers can share (feature postgres)
  --import FILE          import hosts, one JSON object per line; replaces hosts with the same id; - for standard input
  --discover FILE        reconcile the output of a scanner or a device with the hosts; repeatable (feature discovery);
                         FORMAT:FILE names its format: nmap, lldpctl, snmpwalk, snmprec, arp, ip_addr, ip_route,
                         bridge_fdb, bridge_vlan, report; by default its content does
  --reporter NAME        the device that files of --discover come from which do not name it [the name of each file]
  --demo N               without --import: fill a new inventory with N generated hosts [200], the same for the same N
  --rotate-key           replace the API key of the previous start, and print the new one
  --server-version TEXT  server_version in responses [the version of the library]
  --no-rate-limit        disable the rate limit
  --insecure-cookies     send session cookies without Secure, for plain HTTP from other machines
  --trust-proxy N        the server is behind N reverse proxies: take client addresses from X-Forwarded-For
  --origin URL           let pages of this origin, such as https://example.net, use sessions; repeatable
  --prefix PATH          serve everything below this path, such as /netinv
  --help                 print this help

On startup the server prints the following lines to standard output, as NAME=VALUE:

  TOPOSCOPE_URL                            URL of the server
  TOPOSCOPE_API_KEY, TOPOSCOPE_KEY_ID      API key of the owner, and its id; the key is printed only when it is made:
                                           for a new inventory, or with --rotate-key
  TOPOSCOPE_EMAIL, TOPOSCOPE_PASSWORD      login of the owner; the password is printed only for a new inventory
  TOPOSCOPE_NETWORK                        id of a network that the key may access
  TOPOSCOPE_TAG                            id of a tag; some of the generated hosts have it
  TOPOSCOPE_SHARE                          id of a share of that network

All other messages go to standard error. Press Ctrl-C to stop the server.
";

/// The parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Serve(Args),
}

/// The options of the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// Host and port to listen on.
    pub(crate) listen: String,
    pub(crate) store: Place,
    pub(crate) content: Content,
    /// The reports that are reconciled with the hosts.
    pub(crate) reports: Vec<ReportFile>,
    /// Whether the API key of the previous start is replaced.
    pub(crate) rotate_key: bool,
    pub(crate) server_version: String,
    pub(crate) rate_limit: bool,
    /// Whether session cookies are `Secure`.
    pub(crate) secure_cookies: bool,
    /// The number of reverse proxies in front of the server.
    pub(crate) proxies: usize,
    /// Further origins whose pages may use sessions.
    pub(crate) origins: Vec<String>,
    /// The path below which everything is served; empty: none.
    pub(crate) prefix: String,
}

/// The place where records are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Folder(PathBuf),
    /// A database, by its connection string.
    Postgres(String),
}

/// The hosts to add: generated ones (only to a new inventory) or an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Demo(u32),
    Import(Input),
}

/// The source of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Command {
    /// Parses the arguments after the program's name. The last occurrence of a flag counts.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let mut arguments = arguments.into_iter();
        let mut args = Args {
            listen: "127.0.0.1:8080".to_owned(),
            store: Place::Folder("toposcope-data".into()),
            content: Content::Demo(200),
            reports: Vec::new(),
            rotate_key: false,
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            rate_limit: true,
            secure_cookies: true,
            proxies: 0,
            origins: Vec::new(),
            prefix: String::new(),
        };
        let (mut demo, mut import, mut reporter) = (None, None, None);
        let (mut folder, mut postgres, mut in_memory) = (None, None, false);
        while let Some(argument) = arguments.next() {
            let mut flag = Flag::new(text(argument)?, &mut arguments);
            match flag.name.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--listen" => args.listen = address(flag.value("an address and a port")?)?,
                "--data" => folder = Some(PathBuf::from(flag.value("a folder")?)),
                "--memory" => in_memory = flag.alone(true)?,
                "--postgres" => postgres = Some(flag.value("the URL of a database")?),
                "--import" => import = Some(input(flag.value("a file")?)),
                "--discover" => args.reports.push(report(&flag.value("a file")?)?),
                "--reporter" => reporter = Some(flag.value("the name of a device")?),
                "--demo" => demo = Some(number(&flag.value("a number of hosts")?)?),
                "--rotate-key" => args.rotate_key = flag.alone(true)?,
                "--server-version" => args.server_version = flag.value("a version")?,
                "--no-rate-limit" => args.rate_limit = flag.alone(false)?,
                "--insecure-cookies" => args.secure_cookies = flag.alone(false)?,
                "--trust-proxy" => args.proxies = proxies(&flag.value("a number of proxies")?)?,
                "--origin" => args.origins.push(origin(flag.value("an origin")?)?),
                "--prefix" => args.prefix = prefix(&flag.value("a path")?)?,
                name if name.starts_with('-') => {
                    return Err(Failure::usage(format_args!("Unknown flag {name}")));
                }
                name => return Err(Failure::usage(format_args!("Unexpected argument {name:?}"))),
            }
        }
        set_reporter(&mut args.reports, reporter.as_deref());
        args.store = match (folder, postgres, in_memory) {
            (Some(folder), None, false) => Place::Folder(folder),
            (None, Some(url), false) => Place::Postgres(url),
            (None, None, true) => Place::Memory,
            (None, None, false) => args.store,
            _ => return Err(Failure::usage("--data, --memory and --postgres exclude each other")),
        };
        args.content = match (import, demo) {
            (Some(_), Some(_)) => {
                return Err(Failure::usage("--import and --demo exclude each other"));
            }
            (Some(input), None) => Content::Import(input),
            (None, Some(count)) => Content::Demo(count),
            (None, None) => args.content,
        };
        Ok(Self::Serve(args))
    }
}

/// A flag whose value follows an equals sign or is the next argument.
struct Flag<'a, I> {
    name: String,
    attached: Option<String>,
    following: &'a mut I,
}

impl<'a, I: Iterator<Item = OsString>> Flag<'a, I> {
    fn new(argument: String, following: &'a mut I) -> Self {
        let (name, attached) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
            _ => (argument, None),
        };
        Self { name, attached, following }
    }

    fn value(&mut self, what: &str) -> Result<String, Failure> {
        let value = match self.attached.take() {
            Some(value) => Some(value),
            // A following flag is not taken as the value: more likely the value was forgotten.
            None => self.following.next().map(text).transpose()?.filter(|value| !value.starts_with("--")),
        };
        let missing = || Failure::usage(format_args!("{} needs {what}", self.name));
        value.filter(|value| !value.is_empty()).ok_or_else(missing)
    }

    fn alone<T>(&self, meaning: T) -> Result<T, Failure> {
        match self.attached {
            Some(_) => Err(Failure::usage(format_args!("{} takes no value", self.name))),
            None => Ok(meaning),
        }
    }
}

fn text(argument: OsString) -> Result<String, Failure> {
    argument
        .into_string()
        .map_err(|argument| Failure::usage(format_args!("{argument:?} is not valid Unicode")))
}

/// Checks the form of an address. Only the system can decide whether it can be bound.
fn address(value: String) -> Result<String, Failure> {
    match value.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(value),
        _ => Err(Failure::usage(format_args!(
            "--listen needs an address and a port, such as 127.0.0.1:8080 or [::1]:0, not {value:?}"
        ))),
    }
}

/// The largest number of reverse proxies in a row.
const MAX_PROXIES: usize = 16;

fn proxies(value: &str) -> Result<usize, Failure> {
    value.parse().ok().filter(|number| (1..=MAX_PROXIES).contains(number)).ok_or_else(|| {
        Failure::usage(format_args!(
            "--trust-proxy needs a number of proxies, from 1 to {MAX_PROXIES}, not {value:?}"
        ))
    })
}

fn origin(value: String) -> Result<String, Failure> {
    let host = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let host = host.map(|host| host.strip_suffix('/').unwrap_or(host));
    if host.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' '])) {
        return Ok(value);
    }
    Err(Failure::usage(format_args!(
        "--origin needs a scheme and a host, such as https://example.net, not {value:?}"
    )))
}

/// Reads a path without the slash at its end.
fn prefix(value: &str) -> Result<String, Failure> {
    let path = value.strip_suffix('/').unwrap_or(value);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-._~".contains(character);
    let is_segment = |segment: &str| {
        !segment.is_empty() && segment.chars().all(is_plain) && !segment.chars().all(|dot| dot == '.')
    };
    if path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_segment)) {
        return Ok(path.to_owned());
    }
    Err(Failure::usage(format_args!("--prefix needs a path, such as /netinv, not {value:?}")))
}

fn input(value: String) -> Input {
    if value == "-" { Input::Stdin } else { Input::File(value.into()) }
}

/// Reads a file, or a format and a file. A name of several letters before a colon is a format.
#[cfg(feature = "discovery")]
fn report(value: &str) -> Result<ReportFile, Failure> {
    let (format, path) = match value.split_once(':') {
        Some((format, path)) if format.len() > 1 => (format.parse().ok(), path),
        _ => (Some(Format::Auto).filter(|_| value.parse::<Format>().is_err()), value),
    };
    match format.filter(|_| !path.is_empty()) {
        Some(format) => Ok(ReportFile { format, path: path.into(), reporter: None }),
        None => Err(Failure::usage(format_args!(
            "--discover needs a file, or a format and a file such as snmpwalk:core-1.walk, not {value:?}"
        ))),
    }
}

/// Sets the device of the files that do not name theirs.
#[cfg(feature = "discovery")]
fn set_reporter(files: &mut [ReportFile], reporter: Option<&str>) {
    for file in files {
        file.reporter = reporter.map(str::to_owned);
    }
}

/// Does nothing, because there are no reports without the parsers.
#[cfg(not(feature = "discovery"))]
const fn set_reporter(_: &mut [ReportFile], _: Option<&str>) {}

/// No report can be read without the parsers.
#[cfg(not(feature = "discovery"))]
fn report(_: &str) -> Result<ReportFile, Failure> {
    Err(Failure::new("Discovery is not part of this build. Build the server with --features discovery."))
}

fn number(value: &str) -> Result<u32, Failure> {
    value.parse().map_err(|_| {
        Failure::usage(format_args!("--demo needs a number of hosts, from 0 to {}, not {value:?}", u32::MAX))
    })
}
