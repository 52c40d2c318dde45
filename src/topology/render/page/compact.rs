//! Minification of sources: removal of comments, indentation, and spaces and line breaks without a meaning.

use std::cmp::Reverse;
use std::collections::HashMap;

/// The characters of JavaScript beside which a space means nothing, unless it keeps signs apart.
const SCRIPT: &str = "{}()[]=<>&|?:;,!*/%+-'`";
/// The signs that form another operator when they follow each other.
const SIGNS: [char; 2] = ['+', '-'];
/// The characters of CSS beside which a space means nothing. A colon may begin a selector.
const STYLE: &str = "{};,>";
/// The beginning of a line of JavaScript that declares constants.
const DECLARATION: &str = "const ";
/// The beginnings of lines that declare what all parts share.
const DECLARATIONS: [&str; 4] = [DECLARATION, "function ", "async function ", "class "];
/// Names of the scripts themselves that are used most. For properties of the browser that are called so, such as `style.cursor`, the scripts
/// must have no use, and so for those of answers.
const OWN_NAMES: [&str; 33] = [
    "announce",
    "attempt",
    "bounds",
    "camera",
    "create",
    "cursor",
    "direction",
    "element",
    "event",
    "hiddenNodes",
    "highlight",
    "isDragging",
    "isOnPicture",
    "listen",
    "listeners",
    "middle",
    "network",
    "nodeActions",
    "nodeButton",
    "offset",
    "panel",
    "parameters",
    "permalink",
    "picture",
    "plural",
    "properties",
    "readGraph",
    "response",
    "selectNode",
    "selection",
    "undrawn",
    "viewer",
    "views",
];
/// The characters after which a line break means nothing in both languages.
const BREAKS: [char; 3] = [';', '{', ','];

/// Joins the parts of a script.
pub(super) fn script(parts: &[&str]) -> String {
    // A line that is only a closing brace ends a block, others may end a value.
    let ends = |line: &str| line.ends_with(BREAKS) || line == "}";
    let squeeze = |line: &str| if is_plain(line) { squeeze(line, SCRIPT) } else { line.to_owned() };
    let joined = without_parentheses(&join(parts, squeeze, ends));
    shorten_words(&joined, &shared_names(parts))
}

/// Returns the names that the parts share: constants in capital letters, and functions and classes whose names
/// consist of several words.
fn shared_names<'a>(parts: &[&'a str]) -> Vec<&'a str> {
    let lines = parts.iter().flat_map(|part| part.lines());
    let names = lines.filter_map(|line| {
        let declared = DECLARATIONS.iter().find_map(|declaration| line.strip_prefix(declaration))?;
        declared.split(|character| !is_in_name(character)).next()
    });
    let is_capital = |character: char| character.is_ascii_uppercase() || character == '_';
    names.filter(|name| name.len() > 2 && (name.chars().all(is_capital) || has_several_words(name))).collect()
}

/// Returns whether a name has a capital letter after a small one.
fn has_several_words(name: &str) -> bool {
    let follows =
        |pair: &[u8]| matches!(pair, [one, next] if one.is_ascii_lowercase() && next.is_ascii_uppercase());
    name.as_bytes().windows(2).any(follows)
}

/// Removes the parentheses of the parameter of a function, where it has one.
fn without_parentheses(script: &str) -> String {
    let mut plain = String::with_capacity(script.len());
    let mut parts = script.split(")=>").peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            plain.push_str(part);
            break;
        }
        let (before, parameter) = part.rsplit_once('(').unwrap_or(("", part));
        let is_one =
            !parameter.is_empty() && parameter.chars().all(is_in_name) && !before.ends_with(is_in_name);
        if is_one {
            plain.extend([before, parameter, "=>"]);
        } else {
            plain.extend([part, ")=>"]);
        }
    }
    plain
}

/// Gives short names to these shared ones and to [`OWN_NAMES`], the shortest to those that are used most, and to the word that declares
/// constants. No property of the browser has such a name. Strings stay, except for the code in templates.
fn shorten_words(script: &str, shared: &[&str]) -> String {
    let mut uses: HashMap<&str, usize> = shared.iter().chain(&OWN_NAMES).map(|name| (*name, 0)).collect();
    for word in script.split(|character| !is_in_name(character)) {
        if let Some(count) = uses.get_mut(word) {
            *count = count.saturating_add(1);
        }
    }
    let mut names: Vec<&str> = uses.keys().copied().collect();
    names.sort_by_key(|name| (Reverse(uses.get(name)), *name));
    let mut short: HashMap<&str, String> = names.into_iter().zip(short_names()).collect();
    short.insert(DECLARATION.trim_end(), "let".to_owned());
    let mut shortened = String::with_capacity(script.len());
    let mut strings = Strings::default();
    let mut rest = script;
    while !rest.is_empty() {
        let (word, others) =
            rest.split_at(rest.find(|character| !is_in_name(character)).unwrap_or(rest.len()));
        let (signs, others) = others.split_at(others.find(is_in_name).unwrap_or(others.len()));
        let name = short.get(word).filter(|_| !strings.is_text());
        shortened.push_str(name.map_or(word, String::as_str));
        shortened.push_str(signs);
        word.chars().chain(signs.chars()).for_each(|character| strings.pass(character));
        rest = others;
    }
    shortened
}

/// Returns names that the scripts do not have themselves, the shortest first.
fn short_names() -> impl Iterator<Item = String> {
    let digits = || ('0'..='9').chain('a'..='z').chain('A'..='Z');
    let longer = digits().flat_map(move |first| digits().map(move |second| format!("${first}{second}")));
    digits().map(|digit| format!("${digit}")).chain(longer)
}

/// The strings around a place in a script. Regular expressions in it contain no quotes.
#[derive(Default)]
struct Strings {
    /// The quotes and braces that are open. A brace directly in a template begins code.
    open: Vec<char>,
    last: char,
    is_escaped: bool,
}

impl Strings {
    fn is_text(&self) -> bool {
        self.open.last().copied().is_some_and(is_quote)
    }

    /// Goes past a character.
    fn pass(&mut self, character: char) {
        match self.open.last().copied().filter(|open| is_quote(*open)) {
            Some(_) if self.is_escaped => self.is_escaped = false,
            Some(_) if character == '\\' => self.is_escaped = true,
            Some(quote) if character == quote => drop(self.open.pop()),
            Some('`') if self.last == '$' && character == '{' => self.open.push(character),
            Some(_) => {}
            None if is_quote(character) || character == '{' => self.open.push(character),
            None if character == '}' => drop(self.open.pop()),
            None => {}
        }
        self.last = character;
    }
}

const fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$')
}

/// Joins the parts of a style.
pub(super) fn style(parts: &[&str]) -> String {
    join(parts, compact_style, |line| line.ends_with(BREAKS) || line.ends_with('}'))
}

/// Joins the lines of a part of a page, of which each element is a block or in a row of its own.
pub(super) fn markup(part: &str) -> String {
    part.replace(">\n", ">")
}

/// Removes spaces and zeros without a meaning from a line of CSS. No string in it has a colon, a semicolon or a
/// number.
fn compact_style(line: &str) -> String {
    squeeze(line, STYLE).replace(": ", ":").replace(";}", "}").replace(":0.", ":.").replace(" 0.", " .")
}

/// Joins the lines of the parts, without those that are empty or a comment.
///
/// A comment takes whole lines, and no string reaches over several lines. `ends` returns whether the break after a
/// line has no meaning.
fn join(parts: &[&str], squeeze: impl Fn(&str) -> String, ends: impl Fn(&str) -> bool) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let is_comment = |line: &&str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let mut joined = String::new();
    let mut follows_declaration = false;
    for line in lines.filter(|line| !line.is_empty() && !is_comment(line)) {
        let declares = line.starts_with(DECLARATION);
        let mut line = squeeze(line);
        // One statement declares all constants.
        if let Some(rest) =
            line.strip_prefix(DECLARATION.trim_end()).filter(|_| declares && follows_declaration)
        {
            line = format!(",{}", rest.trim_start());
            joined.pop();
        }
        follows_declaration = declares && line.ends_with(';');
        // Before the end of a block, a semicolon means nothing, and a comma means nothing before any end.
        if line.starts_with('}') && joined.ends_with(';')
            || line.starts_with(['}', ']', ')']) && joined.ends_with(',')
        {
            joined.pop();
        }
        joined.push_str(&line);
        if !ends(&line) {
            joined.push('\n');
        }
    }
    joined
}

/// Returns whether all quotes of a line of JavaScript are those of strings.
///
/// A regular expression may contain quotes, and a template a further template. A division has spaces on both sides.
fn is_plain(line: &str) -> bool {
    let mut text = String::new();
    outside_of_strings(line, |character| text.push(character));
    !text.replace(" / ", "").contains('/') && line.matches('`').count() <= 2
}

/// Removes the spaces of a line beside certain characters, except for those in strings.
fn squeeze(line: &str, around: &str) -> String {
    let mut squeezed = String::with_capacity(line.len());
    let mut quote = None;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = squeezed.chars().next_back();
        let next = characters.peek().copied();
        let is_beside = [last, next].into_iter().flatten().any(|other| around.contains(other));
        let is_needed =
            [last, next].into_iter().all(|other| other.is_some_and(|other| SIGNS.contains(&other)));
        if quote.is_none() && character == ' ' && is_beside && !is_needed {
            continue;
        }
        squeezed.push(character);
        match quote {
            Some(_) if character == '\\' => squeezed.extend(characters.next()),
            Some(end) if character == end => quote = None,
            None if is_quote(character) => quote = Some(character),
            _ => {}
        }
    }
    squeezed
}

/// Passes on the characters of a line that are in no string.
fn outside_of_strings(line: &str, mut pass: impl FnMut(char)) {
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match quote {
            Some(_) if character == '\\' => drop(characters.next()),
            Some(end) if character == end => quote = None,
            Some(_) => {}
            None if is_quote(character) => quote = Some(character),
            None => pass(character),
        }
    }
}

const fn is_quote(character: char) -> bool {
    matches!(character, '\'' | '"' | '`')
}

#[cfg(test)]
mod tests {
    use super::{script, style};

    #[test]
    fn script_loses_comments_and_spaces_and_keeps_strings() {
        let source = "// A comment.\n  const a = b ? 'c , d' : `e { ${f} `;\n  g( { h : 1 } );\n\n  return 'i' + +j / 2;\n";
        assert_eq!(script(&[source]), "let a=b?'c , d':`e { ${f} `;g({h:1});return'i'+ +j/2;");
    }

    #[test]
    fn script_keeps_regular_expressions_and_nested_templates() {
        for line in ["a.replace(/ ' , /g, b)\n", "x = `a , ${b ? `c , d` : e} , f`\n"] {
            assert_eq!(script(&[line]), line);
        }
        assert_eq!(script(&["a = 'it\\'s , b' , c\n"]), "a='it\\'s , b',c\n");
    }

    #[test]
    fn script_has_short_names_for_its_constants() {
        let source = "const LIMIT = 5;\nconst limit = LIMITS + `${LIMIT} of all`;\n";
        assert_eq!(
            script(&[source, "const LIMITS = [LIMIT];\n"]),
            "let $0=5,limit=$1+`${$0} of all`,$1=[$0];"
        );
    }

    #[test]
    fn script_has_short_names_for_functions_and_classes_of_several_words() {
        let parts = [
            "const asText = (a) => a;\nfunction text(a) {\n  const asText1 = asText(a);\n}\n",
            "class KeyInput {\n}\n",
        ];
        assert_eq!(script(&parts), "let $0=a=>a;function text(a){let asText1=$0(a)}class $1{}");
    }

    #[test]
    fn names_in_strings_stay_except_for_the_code_of_templates() {
        let source =
            "const asText = (event) => `an event ${f({ 'event': event }, 'it\\'s an event')} event`;\n";
        assert_eq!(
            script(&[source]),
            "let $1=$0=>`an event ${f({ 'event': $0 }, 'it\\'s an event')} event`;"
        );
    }

    #[test]
    fn names_that_are_used_most_are_the_shortest() {
        let names: Vec<String> = (0..70).map(|number| format!("const oneB{number} = 1;\n")).collect();
        let source = names.concat() + "f(oneB69, oneB69);\n";
        let short = script(&[&source]);
        assert!(short.contains("f($0,$0)") && short.contains("$00=1"), "{short}");
    }

    #[test]
    fn function_with_one_parameter_needs_no_parentheses() {
        let source = "a((b) => c((d, e) => f(() => g(h)(i) ?? (async (j) => ({ k }) => l))));\n";
        assert_eq!(script(&[source]), "a(b=>c((d,e)=>f(()=>g(h)(i)??(async(j)=>({k})=>l))));");
    }

    #[test]
    fn string_ends_at_a_quote_after_an_escaped_backslash() {
        assert_eq!(script(&["a = '\\\\' , b\n"]), "a='\\\\',b\n");
    }

    #[test]
    fn style_keeps_spaces_before_pseudo_classes() {
        let source = "a :is(b, c) > d { margin: 0.5em 0.1em 10.5em; color: red; content: \" {\"; }\n/* A comment. */\n@page x { margin: 1mm; }";
        let expected = "a :is(b,c)>d{margin:.5em .1em 10.5em;color:red;content:\" {\"}@page x{margin:1mm}";
        assert_eq!(style(&[source]), expected);
    }
}
