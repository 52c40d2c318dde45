//! The agents in the commands of a recording.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};

use super::session::Command;
use crate::discovery::parse::mib::Mib;
use crate::discovery::parse::prompt::{PROMPT_ENDS, are_of_one_host, device_name};

/// Identifiers that have the form of an IPv4 address: the roots of all variables.
const ROOTS: [&str; 2] = ["1.3.6.1", "1.3.111.2"];
/// The options of net-snmp's tools that have no value.
const FLAGS: [&str; 4] = ["d", "h", "H", "V"];
/// The options of several letters that have values, with the number of these: destinations of messages, the end of a walk,
/// and the forms of a table.
const LONG_OPTIONS: [(&str, usize); 9] =
    [("Lf", 1), ("Ls", 1), ("LE", 1), ("LF", 2), ("LS", 2), ("CE", 1), ("Cf", 1), ("Cw", 1), ("Cr", 1)];
/// The names of transports before an agent.
const TRANSPORTS: [&str; 15] = [
    "udp", "udp6", "udpv6", "udpipv6", "tcp", "tcp6", "tcpv6", "tcpipv6", "ssh", "tls", "tlstcp", "dtls",
    "dtlsudp", "unix", "alias",
];
/// The longest name of a host.
const MAX_NAME: usize = 253;

/// The agent that a command asks.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Agent {
    Address(IpAddr),
    Name(String),
}

impl Agent {
    /// Finds the agent of a command. Returns `None` if the command does not show it.
    fn of(command: Command<'_>) -> Option<Self> {
        let text = str::from_utf8(command.text).ok()?;
        if command.is_local() {
            let (prompt, _) = str::from_utf8(command.before).ok()?.rsplit_once(PROMPT_ENDS)?;
            return device_name(prompt).map(|name| Self::Name(name.to_ascii_lowercase()));
        }
        let address = text.split(' ').filter(|word| !ROOTS.contains(word)).find_map(address);
        address.map(Self::Address).or_else(|| name(text).map(Self::Name))
    }
}

fn address(word: &str) -> Option<IpAddr> {
    let word = without_transport(word);
    let address = || word.trim_matches(['[', ']']).parse().ok();
    address().or_else(|| Some(word.parse::<SocketAddr>().ok()?.ip()))
}

/// Returns the name of the agent in a command of net-snmp: its first word that is neither an option nor the value of one.
///
/// A word that begins with a digit may be the value of an unknown option, and each device is `localhost` to itself.
fn name(command: &str) -> Option<String> {
    // Values in quotes may have spaces.
    if command.contains(['\'', '"']) {
        return None;
    }
    let mut words = command.split_ascii_whitespace().skip(1);
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix('-') else {
            let name = host(without_transport(word).split(':').next()?)?;
            let is_name = !name.starts_with(|first: char| first.is_ascii_digit()) && name != "localhost";
            return is_name.then_some(name);
        };
        for _ in 0..values(option) {
            words.next();
        }
    }
    None
}

/// Returns the number of words behind an option that are its values.
fn values(option: &str) -> usize {
    let is_short = option.len() == 1 && !FLAGS.contains(&option);
    let long = LONG_OPTIONS.iter().find(|(long, _)| *long == option);
    long.map_or_else(|| usize::from(is_short), |(_, values)| *values)
}

fn without_transport(word: &str) -> &str {
    word.split_once(':').filter(|(kind, _)| TRANSPORTS.contains(kind)).map_or(word, |(_, agent)| agent)
}

/// Returns the name of a host in lower case.
fn host(name: &str) -> Option<String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = name.len() <= MAX_NAME && !name.starts_with('.') && name.bytes().all(is_letter);
    (is_name && !name.is_empty()).then(|| name.to_ascii_lowercase())
}

/// The agents that answered.
///
/// Two addresses are those of one device if it is known to have the first one.
#[derive(Default)]
pub(super) struct Agents {
    /// The agent of the last command, as long as no variable follows.
    asked: Option<Agent>,
    /// The names of the device: that of the first agent with a name that answered, and others that it has as well.
    names: Vec<String>,
    /// The name of the agent that answers, if it is another one, and the device has not stated its own name before.
    other_name: Option<String>,
    /// The first agent of each family that answered, as a device may have an address of both; and others that have named its
    /// address.
    known: Vec<IpAddr>,
    /// The agent that answers, if it is another one than the first.
    other: Option<OtherAgent>,
    /// The addresses or names of two devices.
    conflict: Option<String>,
}

/// An agent at another address of the same family as the first one.
struct OtherAgent {
    address: IpAddr,
    first: IpAddr,
    /// Whether the device was known to have the address of the first agent before this one answered.
    knew_first: bool,
}

impl Agents {
    /// Notes a command.
    pub(super) fn ask(&mut self, command: Command<'_>) {
        self.asked = Agent::of(command);
    }

    /// Notes that a variable follows the last command.
    pub(super) fn answer(&mut self, mib: &Mib) {
        match self.asked.take() {
            Some(Agent::Address(address)) => self.answer_from(address, mib),
            Some(Agent::Name(name)) => self.answer_by_name(name, mib),
            None => {}
        }
    }

    /// Compares the name of the agent that answers with those of the device. A further one must be the name that the device
    /// states, because another device may answer to it.
    fn answer_by_name(&mut self, name: String, mib: &Mib) {
        if self.other_name.as_ref() == Some(&name) {
            return;
        }
        self.compare_names(mib);
        if let Some(known) = self.names.iter_mut().find(|known| are_of_one_host(known, &name)) {
            // Another domain shows another host as soon as one is known.
            if known.len() < name.len() {
                *known = name;
            }
            return;
        }
        match (self.names.first(), mib.sys_name()) {
            (None, _) => self.names.push(name),
            (Some(_), Some(own)) if are_of_one_host(own, &name) => self.names.push(name),
            (Some(first), Some(_)) => {
                self.conflict.get_or_insert_with(|| described(first, &name));
            }
            (Some(_), None) => self.other_name = Some(name),
        }
    }

    /// Compares the agent that has answered to another name with the first one: it must have stated the name of that.
    fn compare_names(&mut self, mib: &Mib) {
        let Some((first, other)) = self.names.first().zip(self.other_name.take()) else { return };
        if mib.sys_name().is_some_and(|own| are_of_one_host(own, first)) {
            self.names.push(other);
        } else {
            self.conflict.get_or_insert_with(|| described(first, &other));
        }
    }

    fn answer_from(&mut self, address: IpAddr, mib: &Mib) {
        if self.other.as_ref().is_some_and(|other| other.address == address) {
            return;
        }
        self.compare(mib);
        if self.known.contains(&address) {
            return;
        }
        match self.known.iter().find(|first| first.is_ipv4() == address.is_ipv4()) {
            None => self.known.push(address),
            // The answers of the first agent name this address.
            Some(_) if mib.has_address(address) => {}
            Some(first) => {
                self.other = Some(OtherAgent { address, first: *first, knew_first: mib.has_address(*first) });
            }
        }
    }

    /// Compares the agent that has answered with the first one: it must have named the address of that.
    fn compare(&mut self, mib: &Mib) {
        let Some(OtherAgent { address, first, knew_first }) = self.other.take() else { return };
        if knew_first || !mib.has_address(first) {
            self.conflict.get_or_insert_with(|| described(&first, &address));
        } else {
            self.known.push(address);
        }
    }

    /// Fails if two devices have answered.
    pub(super) fn finish(mut self, mib: &Mib) -> Result<(), String> {
        self.compare(mib);
        self.compare_names(mib);
        self.conflict.map_or(Ok(()), Err)
    }
}

fn described(first: &dyn Display, other: &dyn Display) -> String {
    format!("there are commands for {first} and {other}")
}
