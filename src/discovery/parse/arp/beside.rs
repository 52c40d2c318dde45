//! The lines beside a table.

use super::addresses::ip_address;
use super::other_tables::is_about_leases;
use crate::discovery::parse::prompt::{PROMPT_ENDS, device_name, is_before_command, may_be_prompt};
use crate::discovery::parse::terminal;

/// The beginnings of lines beside a table, in lower case.
const BEGINNINGS: &[&str] = &[
    "total",
    "flags:",
    "codes:",
    "columns:",
    "no. of ",
    // Comments and commands of RouterOS.
    ";;;",
    "/ip ",
    "/ipv6 ",
    // Separators and messages of netdiscover.
    "-- ",
    "starting arp-scan",
    "ending arp-scan",
    "warning:",
    // Prompts of Junos.
    "{master",
    "{backup",
    "{primary",
    "{secondary",
];
/// Returns whether a line without addresses is a separator, a total, a legend, a statistic, or a command with its prompt.
pub(super) fn is_beside_table(text: &str) -> bool {
    if is_message(text) || is_empty_total(text) == Some(true) {
        return true;
    }
    let line = text.trim().to_ascii_lowercase();
    let is_begun = BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
    let is_total = (line.contains("entries") || line.contains("packets received"))
        && line.contains(|character: char| character.is_ascii_digit());
    let is_statistic = line.ends_with(':')
        || line.split_once(':').is_some_and(|(name, value)| {
            // A damaged entry has a colon in its MAC address, behind digits.
            let is_name = !name.contains(|character: char| character.is_ascii_digit());
            let is_number = value.trim_start().starts_with(|character: char| character.is_ascii_digit());
            is_name && (is_number || name.ends_with(' ') || value.starts_with("  "))
        });
    is_begun
        || is_total
        || is_statistic
        || matches!(&*line, "done" | "interrupted")
        // Numbers of entries precede comments.
        || line.contains(" ;;; ")
        || is_caption(&line)
        || Command::read_echoed(text).is_some()
        || may_be_prompt(&line)
        || is_list(&line)
        || !line.contains(char::is_alphanumeric)
}

/// Returns whether a line is a part of a list, such as `Gi1/0/1, Gi1/0/2`. Damaged addresses have other letters.
fn is_list(line: &str) -> bool {
    let is_name = |word: &str| {
        word.contains(|letter: char| (letter.is_ascii_lowercase() && letter > 'f') || letter == '/')
    };
    let is_item = |word: &str| word.ends_with(',') && word.starts_with(char::is_alphabetic);
    let list = line.rsplit_once(' ').map_or(line, |(list, _)| list);
    // `Fa0` alone has the letters of an address.
    list.split(' ').all(is_item) && list.split(' ').any(is_name)
}

/// The words that end captions of statistics.
const CAPTIONS: &[&str] = &["settings", "statistics", "parameters", "counters"];

/// Returns whether a line is the caption of statistics, such as `ARP Global Settings`.
fn is_caption(line: &str) -> bool {
    let is_text = line.chars().all(|character| character.is_alphabetic() || character == ' ');
    is_text && line.rsplit(' ').next().is_some_and(|last| CAPTIONS.contains(&last))
}

/// A command with the prompt before it.
pub(super) struct Command<'l> {
    /// The name of the device that the prompt shows, such as `sw-1` of `sw-1#show ip arp` and of
    /// `admin@sw-1(config)> show arp`.
    pub(super) device: Option<&'l str>,
    pub(super) text: &'l str,
}

impl<'l> Command<'l> {
    pub(super) fn read(text: &'l str) -> Option<Self> {
        let text = text.trim().trim_start_matches(['*', '-', ' ']);
        // The zone of an address follows a percent sign.
        if ip_address(text.split(' ').next()?).is_some() {
            return None;
        }
        let (prompt, command) = match text.strip_prefix(['<', '[']) {
            // Views of Comware and VRP are in square brackets, and their names begin with that of the device.
            Some(bracketed) => bracketed
                .split_once(['>', ']'])
                .filter(|(name, _)| text.starts_with('<') || name.contains('@'))?,
            None => {
                let (prompt, end) = text.split_at_checked(text.find(PROMPT_ENDS)?)?;
                (prompt, end.strip_prefix(|end| is_before_command(prompt, end))?)
            }
        };
        // RouterOS begins its commands with a slash, and so do paths of programs.
        let command = command.trim_start_matches(|character| {
            matches!(character, ' ' | '/') || PROMPT_ENDS.contains(&character)
        });
        let is_command = command.starts_with(|character: char| character.is_ascii_alphabetic());
        is_command.then(|| Self { device: device_name(prompt), text: command })
    }

    /// Reads a command that prints the table, without a prompt.
    pub(super) fn read_echoed(text: &'l str) -> Option<Self> {
        let text = text.trim();
        let mut words = text.split(' ').filter(|word| !word.is_empty());
        let (first, second) = (words.next()?.to_ascii_lowercase(), words.next());
        let is_program =
            TABLES.contains(&first.as_str()) && second.is_none_or(|option| option.starts_with('-'));
        let is_command = (is_program || VERBS.contains(&first.as_str()))
            && words.take(MAX_COMMAND_WORDS).count() + 2 <= MAX_COMMAND_WORDS;
        let command = Self { device: None, text };
        (is_command && command.prints_table()).then_some(command)
    }

    /// Returns whether a line is a command, with or without a prompt, and no heading. Titles may begin like a prompt, too, but have gaps
    /// between them: `# ADDRESS  INTERFACE`.
    pub(super) fn is_line(text: &'l str) -> bool {
        let is_certain = |command: &Self| {
            command.device.is_some() || command.prints_table() || command.prints_other_table()
        };
        let is_prompted = || Self::read(text).as_ref().is_some_and(is_certain);
        !text.trim().contains("  ") && (is_prompted() || Self::read_echoed(text).is_some())
    }

    /// Returns whether the command prints another table with addresses, such as leases.
    pub(super) fn prints_other_table(&self) -> bool {
        let command = self.text.to_ascii_lowercase();
        let words: Vec<&str> = command
            .split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let is_about_dhcp = || words.iter().any(|word| word.starts_with("dhcp"));
        let is_of_neighbors = words.iter().any(|word| TABLES.contains(word));
        let is_announced = words.starts_with(&["ip", "neighbor"]) && words.contains(&"print");
        is_about_leases(self.text) || is_announced || (is_about_dhcp() && !is_of_neighbors)
    }

    /// Returns whether the command prints the whole table of a device.
    pub(super) fn prints_table(&self) -> bool {
        let command = self.text.to_ascii_lowercase();
        let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
        let program = |word: &str| word.rsplit('/').next().is_some_and(|name| TABLES.contains(&name));
        let is_table = words.iter().any(|word| program(word))
            || words
                .iter()
                .zip(words.iter().skip(1))
                .any(|(first, second)| matches!(*first, "ipv6" | "nd") && second.starts_with("neighbor"));
        let is_part = |word: &&str| OTHER_COMMANDS.contains(word) || ip_address(word).is_some();
        is_table && !words.iter().any(is_part)
    }
}

/// The words that begin commands with further words. Those of [`TABLES`] that are programs have options.
const VERBS: &[&str] = &["show", "sh", "display", "get", "ip", "cat", "sudo"];
/// The most words of a command without a prompt.
const MAX_COMMAND_WORDS: usize = 6;
/// Words of commands that print tables.
const TABLES: &[&str] = &["arp", "iparp", "ndp", "neigh"];
/// Words of commands that change tables or print a part of one.
#[rustfmt::skip]
const OTHER_COMMANDS: &[&str] = &[
    "|", "clear", "no", "debug", "reset", "flush", "add", "del", "delete", "set", "replace", "man", "-d", "-s",
    "summary", "statistics", "count", "timeout", "traffic", "inspection",
];

/// Returns whether a line names IPv6 or the protocol that finds its neighbors.
pub(super) fn is_about_ipv6(text: &str) -> bool {
    let line = text.to_ascii_lowercase();
    ["ipv6", "inet6", " -6", "ndp", "neighbor"].iter().any(|name| line.contains(name))
}

/// Returns whether a line states that there are no entries; `None` if it states no number of them.
pub(super) fn is_empty_total(text: &str) -> Option<bool> {
    let line = text.trim().to_lowercase();
    if has_no_entries(&line) {
        return Some(true);
    }
    let is_total = line.starts_with("total") || line.contains("entries");
    let mut digits = line.bytes().filter(u8::is_ascii_digit).peekable();
    (is_total && digits.peek().is_some()).then(|| digits.all(|digit| digit == b'0'))
}

/// The words for no entries, and for entries, in several languages.
const NONE: &[&str] =
    &["no", "keine", "aucune", "ninguna", "nessuna", "nenhuma", "geen", "brak", "не", "нет", "没有", "沒有"];
const ENTRIES: &[&str] = &["entr", "eintr", "voce", "voci", "wpis", "запис", "vermelding"];

/// Returns whether a line in lower case is a sentence such as `No ARP entries found.` or `The ARP table is empty.`
fn has_no_entries(line: &str) -> bool {
    let names_table = || line.contains("arp") || line.contains("neighbo");
    if line.contains("is empty") && names_table() {
        return true;
    }
    let words = || line.split(|character: char| !character.is_alphanumeric());
    let is_entry = |word: &str| ENTRIES.iter().any(|entry| word.starts_with(entry));
    let is_sentence = !line.contains(|character: char| character.is_ascii_digit());
    // Languages without spaces have the words in the middle of others.
    let is_unspaced = || names_table() && ["找不到", "見つかりません"].iter().any(|none| line.contains(none));
    is_sentence && (is_unspaced() || (words().any(|word| NONE.contains(&word)) && words().any(is_entry)))
}

/// Returns whether a line is the command that prints a table, or states that there are no entries of ARP.
pub(super) fn announces_table(text: &str) -> bool {
    let states_none = || is_empty_total(text) == Some(true) && text.to_ascii_lowercase().contains("arp");
    Command::read(text).is_some_and(|command| command.prints_table()) || states_none()
}

/// Returns whether a line is a message of the device, or belongs to the session of a terminal and not to what a command prints.
pub(super) fn is_message(text: &str) -> bool {
    is_log(text) || terminal::is_session_frame(text.trim())
}

/// Returns whether a line is a message that the device writes to its console: `%LINK-3-UPDOWN: …` of Cisco, `%%01IFNET/4/…` of
/// VRP, or `%Nov 28 10:00:00:123 2026 sw-1 SHELL/5/SHELL_LOGIN: …` of Comware.
fn is_log(text: &str) -> bool {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    words.any(|word| {
        let word = word.trim_end_matches(':');
        let word = word.split_once('(').map_or(word, |(word, _)| word);
        let dashed = word.strip_prefix('%').map(|word| word.split('-'));
        dashed.is_some_and(|parts| is_tag(parts.rev())) || is_tag(word.rsplit('/'))
    })
}

/// Returns whether the parts of a word, the last one first, are the name of a message, its severity and its origin.
fn is_tag<'l>(mut parts: impl Iterator<Item = &'l str>) -> bool {
    let is_name = |name: &str| {
        name.len() > 1
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
            && name.starts_with(|first: char| first.is_ascii_uppercase())
    };
    let is_named = parts.next().is_some_and(is_name);
    let is_severity = matches!(parts.next(), Some("0" | "1" | "2" | "3" | "4" | "5" | "6" | "7"));
    let origin = parts
        .next()
        .map(|origin| origin.trim_start_matches(|character: char| !character.is_ascii_uppercase()));
    is_named && is_severity && origin.is_some_and(is_name)
}

/// Returns whether a line is the message of a device that it does not know a command.
pub(super) fn is_refusal(text: &str) -> bool {
    let message = text.trim().strip_prefix('%').map(str::trim_start);
    message.is_some_and(|message| message.starts_with(|first: char| first.is_ascii_uppercase()))
}
