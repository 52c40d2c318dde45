//! Messages of the SNMP tools, which may stand between the variables of a walk.

/// What a message means for the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    /// The device has no more variables.
    End,
    /// The device or the tool gave up, so that variables are missing.
    Failure,
    /// A further line of the message before.
    Detail,
    /// Something else, such as a MIB that was not found, or the command itself.
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

/// The tools that begin messages with their name and a colon.
const TOOLS: &[&[u8]] =
    &[b"snmpwalk", b"snmpbulkwalk", b"snmpget", b"snmpgetnext", b"snmpbulkget", b"snmptable"];

/// Recognizes the lines that the tools write besides variables.
pub(super) fn message(line: &[u8]) -> Option<Message> {
    // Most lines begin with a numeric identifier.
    if line.first().is_none_or(|first| *first == b'.' || first.is_ascii_digit()) {
        return None;
    }
    let known =
        MESSAGES.iter().find(|(beginning, _)| line.starts_with(beginning)).map(|(_, message)| *message);
    if let Some(message) = known {
        // A word that goes on is another one.
        let is_word = message == Message::Failure && line.starts_with(b"Timeout");
        let next = line.get(b"Timeout".len()).map_or(0, |byte| *byte);
        return Some(message).filter(|_| !is_word || !next.is_ascii_alphanumeric());
    }
    if TOOLS.iter().any(|tool| line.strip_prefix(*tool).is_some_and(|rest| rest.starts_with(b": "))) {
        return Some(Message::Failure);
    }
    is_command(line).then_some(Message::Notice)
}

/// Returns whether a line is the command of a walk, with or without the prompt of a shell.
fn is_command(line: &[u8]) -> bool {
    let Some(position) = memchr::memmem::find(line, b"snmp") else { return false };
    let (before, command) = line.split_at(position);
    let is_prompt =
        before.is_empty() || before.ends_with(b"$ ") || before.ends_with(b"# ") || before.ends_with(b"> ");
    let options = |tool: &&[u8]| command.strip_prefix(*tool).is_some_and(|rest| rest.starts_with(b" -"));
    is_prompt && TOOLS.iter().any(options)
}
