//! Prompts of shells and devices in recordings of terminals.

use super::terminal::LAST_COMMANDS;

/// The characters that end prompts.
pub(super) const PROMPT_ENDS: [char; 4] = ['#', '>', '$', '%'];

/// The longest name of a device in a prompt.
const MAX_NAME: usize = 253;

/// Returns whether a line is the prompt of a shell or a device.
///
/// A command may follow one that shows a folder or a user: `C:\>`, `PS C:\>`, `root@nms:~#`, `[root@nms ~]#`, `admin@sw-1>`.
/// Nothing follows the other ones: `$`, `sw-1#`, `<sw-1>`.
pub(super) fn is_prompt(line: &str) -> bool {
    let line = line.strip_prefix("PS ").unwrap_or(line);
    let Some((place, rest)) = line.find(PROMPT_ENDS).and_then(|end| line.split_at_checked(end)) else {
        return false;
    };
    let mut rest = rest.chars();
    let end = rest.next();
    let command = rest.as_str();
    if end == Some('>') && is_windows_folder(place) {
        return true;
    }
    if is_user_at_host(place) {
        return command.is_empty() || command.starts_with(' ');
    }
    let name = place.trim_start_matches(['<', '[']).trim_end_matches(']').trim_end();
    let is_name = |character: char| character.is_ascii_alphanumeric() || "-_.():/~".contains(character);
    // A percentage is a number.
    let is_alone = name.chars().all(is_name) && (end != Some('%') || name.is_empty());
    let is_begun = name.is_empty() || name.starts_with(|first: char| first.is_ascii_alphanumeric());
    is_alone && is_begun && (command.is_empty() || LAST_COMMANDS.contains(&command.trim()))
}

/// Returns whether text is a folder of Windows, such as `C:\Users`.
fn is_windows_folder(text: &str) -> bool {
    let mut characters = text.chars();
    let is_drive = characters.next().is_some_and(|drive| drive.is_ascii_alphabetic());
    is_drive && characters.as_str().starts_with(":\\")
}

/// Returns whether text before the end of a prompt is a user at a host, with a folder or a context: `root@nms:~`,
/// `[root@nms ~`, `admin@fw-1(active)`, `[admin@r-1] `.
fn is_user_at_host(text: &str) -> bool {
    let Some((user, host)) = text.strip_prefix('[').unwrap_or(text).split_once('@') else { return false };
    let is_word = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let (host, place) = host.split_at(host.find(|character: char| !is_word(character)).unwrap_or(host.len()));
    let is_place = match place.chars().next() {
        None => true,
        Some(':' | '(') => !place.contains(' '),
        Some(' ') => {
            let folder = place.trim_matches([' ', ']']);
            !folder.is_empty()
                && !folder.contains(' ')
                && (place.ends_with(']') || folder.starts_with(['~', '/']))
        }
        Some(first) => first == ']',
    };
    let is_user = !user.is_empty() && user.chars().all(is_word);
    is_user && !host.is_empty() && is_place
}

/// Returns whether a line of a table may be a prompt, with or without a command: it has the end of one at its beginning or end.
///
/// Where any line may be text of a value, [`is_prompt`] decides.
pub(super) fn may_be_prompt(line: &str) -> bool {
    let mut words = line.split(' ').filter(|word| !word.is_empty());
    let first = words.next().unwrap_or("");
    let is_bracketed = first.starts_with(['<', '[']) && line.contains(['>', ']']) && !first.starts_with("[{");
    first.contains(PROMPT_ENDS)
        || is_bracketed
        || is_parenthesized_prompt(line)
        || words.take(2).any(|word| matches!(word, "#" | ">" | "$" | "%"))
        || line.ends_with(PROMPT_ENDS)
}

/// Returns whether a line is a prompt of FASTPATH or ArubaOS, whose names may have spaces: `(EdgeSwitch 8) #`, `(wlc-1) [mynode] #`.
fn is_parenthesized_prompt(line: &str) -> bool {
    let Some((_, rest)) = line.strip_prefix('(').and_then(|line| line.split_once(')')) else { return false };
    let rest = rest.trim_start();
    let node = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    node.map_or(rest, |(_, rest)| rest.trim_start()).starts_with(['#', '>'])
}

/// Returns whether a character ends the prompt behind this text. In other lines, it is a part of a sentence.
pub(super) fn is_before_command(prompt: &str, end: char) -> bool {
    if end == '%' && prompt.ends_with(|last: char| last.is_ascii_digit()) {
        return false;
    }
    // `name #` and `name (context) #`
    prompt.split_once(' ').is_none_or(|(_, rest)| {
        let rest = rest.trim();
        let is_context = rest.starts_with('(') && rest.ends_with(')') && !rest.contains(' ');
        // The folder stands before the end of zsh's prompts.
        let is_folder = rest.starts_with(['~', '/']) && !rest.contains(' ');
        (end == '#' && (rest.is_empty() || is_context)) || (end == '%' && is_folder)
    })
}

/// Returns the name of the device in a prompt, of which this is the text before its end.
pub(super) fn device_name(prompt: &str) -> Option<&str> {
    let name = prompt.rsplit_once('@').map_or(prompt, |(_, name)| name);
    let name = if name.starts_with("RP/") { name.rsplit_once(':')?.1 } else { name };
    // Modes, contexts and folders follow the name.
    let (name, rest) = name.split_at(name.find(['(', ':', '/', ' ', '~']).unwrap_or(name.len()));
    // EXOS counts the commands in its prompt.
    let name = match name.rsplit_once('.') {
        Some((name, count)) if count.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(|character: char| character.is_ascii_alphanumeric())
        && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_' | '.'));
    // A drive of Windows is no name.
    (is_name && !rest.contains('\\')).then_some(name)
}

/// Returns whether two names are those of one host: they are equal in any letter case, or one is the other without its domain. The
/// dot of the root may end both.
pub(super) fn are_of_one_host(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|name| name.trim_end_matches('.'));
    let (short, full) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let Some((beginning, domain)) = full.split_at_checked(short.len()) else { return false };
    let is_domain = || domain.starts_with('.') && !short.contains('.');
    beginning.eq_ignore_ascii_case(short) && (domain.is_empty() || is_domain())
}
