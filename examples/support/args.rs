//! The flags of the example servers.

use std::ffi::OsString;
use std::path::PathBuf;

use super::failure::Failure;

/// What `--help` prints after the line that tells how the program is called.
pub(crate) const HELP: &str = "\
Serves a network inventory over HTTP. It is kept in a folder: a server that is started again goes on where it was.

  --listen ADDR          the address and port to listen on [127.0.0.1:8080]; port 0: any free one
  --data DIR             the folder [toposcope-data]; it is made if it is not there
  --memory               keep everything in memory instead, gone at the end
  --import FILE          put hosts in, one a line as JSON, in the place of those with the same ids; - for standard input
  --demo N               without --import: so many made-up hosts [200] in a new inventory, the same for the same N
  --server-version TEXT  the server_version that responses tell [the version of the library]
  --no-rate-limit        answer any number of requests
  --insecure-cookies     send the cookie of a session without Secure: for plain http from other machines
  --help                 print this

Once it listens, it prints to standard output, as NAME=VALUE, one a line and in this order:

  TOPOSCOPE_URL                            where it is
  TOPOSCOPE_API_KEY, TOPOSCOPE_KEY_ID      an API key of its owner and its id; the key of an earlier start stops working
  TOPOSCOPE_EMAIL, TOPOSCOPE_PASSWORD      what the owner logs in with; the password is told once, with a new inventory
  TOPOSCOPE_NETWORK                        the id of a network that the key reaches
  TOPOSCOPE_TAG                            the id of a tag; some of the made-up hosts bear it
  TOPOSCOPE_SHARE                          the id of a share of that network

Everything else goes to standard error. Ctrl-C ends it.
";

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Serve(Args),
}

/// How to serve.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Args {
    /// Host and port.
    pub(crate) listen: String,
    pub(crate) store: Place,
    pub(crate) content: Content,
    pub(crate) server_version: String,
    pub(crate) rate_limit: bool,
    /// Whether the cookie of a session is `Secure`.
    pub(crate) secure_cookies: bool,
}

/// Where records are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Folder(PathBuf),
}

/// What is put into the store: made-up hosts only into a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Demo(u32),
    Import(Input),
}

/// Where an import is read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

impl Command {
    /// Reads the arguments that follow the program's name. A flag given twice counts the last time.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, Failure> {
        let mut arguments = arguments.into_iter();
        let mut args = Args {
            listen: "127.0.0.1:8080".to_owned(),
            store: Place::Folder("toposcope-data".into()),
            content: Content::Demo(200),
            server_version: env!("CARGO_PKG_VERSION").to_owned(),
            rate_limit: true,
            secure_cookies: true,
        };
        let (mut demo, mut import, mut folder, mut in_memory) = (None, None, None, false);
        while let Some(argument) = arguments.next() {
            let mut flag = Flag::new(text(argument)?, &mut arguments);
            match flag.name.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--listen" => args.listen = address(flag.value("an address and a port")?)?,
                "--data" => folder = Some(PathBuf::from(flag.value("a folder")?)),
                "--memory" => in_memory = flag.alone(true)?,
                "--import" => import = Some(input(flag.value("a file")?)),
                "--demo" => demo = Some(number(&flag.value("a number of hosts")?)?),
                "--server-version" => args.server_version = flag.value("a version")?,
                "--no-rate-limit" => args.rate_limit = flag.alone(false)?,
                "--insecure-cookies" => args.secure_cookies = flag.alone(false)?,
                name if name.starts_with('-') => {
                    return Err(Failure::usage(format_args!("There is no flag {name}")));
                }
                name => return Err(Failure::usage(format_args!("{name:?} does not belong to a flag"))),
            }
        }
        args.store = match (folder, in_memory) {
            (Some(_), true) => {
                return Err(Failure::usage(
                    "Records are kept in a folder or in memory: leave out --data or --memory",
                ));
            }
            (Some(folder), false) => Place::Folder(folder),
            (None, true) => Place::Memory,
            (None, false) => args.store,
        };
        args.content = match (import, demo) {
            (Some(_), Some(_)) => {
                return Err(Failure::usage(
                    "Hosts are either imported or made up: leave out --import or --demo",
                ));
            }
            (Some(input), None) => Content::Import(input),
            (None, Some(count)) => Content::Demo(count),
            (None, None) => args.content,
        };
        Ok(Self::Serve(args))
    }
}

/// A flag, and where its value is: behind a `=`, or in the next argument.
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
            // The next flag is no value: that one was forgotten is likelier.
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

/// Whether the host can be listened on only the system can tell.
fn address(value: String) -> Result<String, Failure> {
    match value.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(value),
        _ => Err(Failure::usage(format_args!(
            "--listen needs an address and a port, such as 127.0.0.1:8080 or [::1]:0, not {value:?}"
        ))),
    }
}

fn input(value: String) -> Input {
    if value == "-" { Input::Stdin } else { Input::File(value.into()) }
}

fn number(value: &str) -> Result<u32, Failure> {
    value.parse().map_err(|_| {
        Failure::usage(format_args!("--demo needs a number of hosts, from 0 to {}, not {value:?}", u32::MAX))
    })
}
