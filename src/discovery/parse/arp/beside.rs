//! The lines beside a table.

/// The beginnings of lines beside a table, in lower case.
const BEGINNINGS: &[&str] = &[
    "total",
    "flags:",
    "codes:",
    "columns:",
    "no. of ",
    // Comments of RouterOS.
    ";;;",
    "starting arp-scan",
    "ending arp-scan",
    // Prompts of Junos.
    "{master",
    "{backup",
    "{primary",
    "{secondary",
];
/// The commands that print tables. The line of a command may have a prompt before it.
const COMMANDS: &[&str] = &[" arp", "ip neigh", "show ip", "show arp", "display arp", "ndp -"];

/// Returns whether a line is a separator, a total, a legend, or a command with its prompt.
pub(super) fn is_beside_table(line: &str) -> bool {
    let line = line.trim().to_ascii_lowercase();
    let is_begun = BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
    let is_prompt = line.contains(['#', '>', '$', '%'])
        && (!line.contains(' ')
            || line.ends_with(['#', '>', '$'])
            || COMMANDS.iter().any(|command| line.contains(command)));
    let is_total = (line.contains("entries") || line.contains("packets received"))
        && line.contains(|character: char| character.is_ascii_digit());
    is_begun || is_prompt || is_total || !line.contains(char::is_alphanumeric)
}
