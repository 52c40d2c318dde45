//! Messages of the SNMP tools, which may stand between the variables.

use memchr::memmem;

use super::session::TOOLS;
use crate::invariant::Invariant;

/// The meaning of a message for the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The device has no more variables.
    End,
    /// The device or the tool gave up, so that variables are missing.
    Failure,
    /// A further line of the message before.
    Detail,
    /// Something else, such as a MIB that was not found, a prompt, or a command.
    Notice,
}

/// Messages by their beginnings.
const MESSAGES: &[(&[u8], Message)] = &[
    (b"End of MIB", Message::End),
    (b"No more variables left in this MIB View", Message::End),
    (b"Variables found:", Message::End),
    (b"Total traversal time", Message::End),
    (b"Timeout", Message::Failure),
    (b"No Response from", Message::Failure),
    (b"Error in packet", Message::Failure),
    (b"Error: OID not increasing", Message::Failure),
    (b"Authentication failure", Message::Failure),
    (b"Unknown user name", Message::Failure),
    (b"Unsupported security level", Message::Failure),
    (b"Decryption error", Message::Failure),
    (b"Reason: (", Message::Detail),
    (b"Failed object:", Message::Detail),
    (b" >= .", Message::Detail),
    (b">= .", Message::Detail),
    (b"MIB search path:", Message::Notice),
    (b"Cannot find module", Message::Notice),
    (b"Did not find '", Message::Notice),
    (b"Unlinked OID in", Message::Notice),
    (b"Undefined identifier", Message::Notice),
    (b"Cannot adopt OID in", Message::Notice),
    (b"Bad operator (", Message::Notice),
    (b"Created directory:", Message::Notice),
];

/// Returns whether a line is one of a packet, as `-d` prints it: its length, or `0016: 30 29 …`.
fn is_dump(line: &[u8]) -> bool {
    if line.starts_with(b"Sending ") || line.starts_with(b"Received ") {
        return memmem::find(line, b" bytes ").is_some();
    }
    let Some(([digits @ .., b':', b' '], bytes)) = line.split_at_checked(6) else { return false };
    let pair = bytes.split(|byte| *byte == b' ').next().asserted_or_default();
    digits.iter().all(u8::is_ascii_digit) && pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit)
}

/// Recognizes the lines that the tools write besides variables. Within quotes, a line like that of a packet is text.
pub(super) fn message(line: &[u8], is_quoted: bool) -> Option<Message> {
    if !is_quoted && is_dump(line) {
        return Some(Message::Detail);
    }
    // Most lines begin with a numeric identifier.
    if line.first().is_none_or(|first| *first == b'.' || first.is_ascii_digit()) {
        return None;
    }
    let known =
        MESSAGES.iter().find(|(beginning, _)| line.starts_with(beginning)).map(|(_, message)| *message);
    if let Some(message) = known {
        // A longer word is another one.
        let is_word = message == Message::Failure && line.starts_with(b"Timeout");
        let next = line.get(b"Timeout".len()).map_or(0, |byte| *byte);
        return Some(message).filter(|_| !is_word || !next.is_ascii_alphanumeric());
    }
    let is_tool = |tool: &&[u8]| line.strip_prefix(*tool).is_some_and(|rest| rest.starts_with(b": "));
    TOOLS.iter().any(is_tool).then_some(Message::Failure)
}
