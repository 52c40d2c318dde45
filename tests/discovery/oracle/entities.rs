//! Serial numbers.

use super::recording::{Recording, Variables};
use super::tally::Tally;

const ENTITY: &str = "1.3.6.1.2.1.47.1.1.1.1";

pub(crate) fn compare(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    let found = recording.device().serial_number.as_deref();
    let serials: Vec<(String, String)> = variables
        .below(&format!("{ENTITY}.11"))
        .into_iter()
        .map(|(index, serial)| (index.to_owned(), trimmed(&String::from_utf8_lossy(&serial))))
        .filter(|(_, serial)| !serial.is_empty())
        .collect();
    let class = |index: &str| variables.number(&format!("{ENTITY}.5.{index}"));
    if let Some(wanted) = recording.expected["system"]["serial"].as_str() {
        let example = || {
            format!(
                "{}: they have {wanted:?}, we {found:?}, ENTITY-MIB {:?}",
                recording.name,
                &serials[..serials.len().min(4)]
            )
        };
        if found == Some(trimmed(wanted).as_str()) {
            tally.agree("system serial");
        } else if !serials.iter().any(|(_, serial)| *serial == trimmed(wanted)) {
            tally.theirs("system serial", "no component of ENTITY-MIB has the serial number", example);
        } else if found.is_some_and(|found| {
            serials.iter().any(|(index, serial)| serial == found && class(index) == Some(3))
        }) {
            tally.theirs("system serial", "our serial number is that of the chassis", example);
        } else {
            tally.ours("system serial", "another serial number", example);
        }
    }
    // The chassis with a serial number, or else the stack, or else the components that no other contains.
    let of_class = |wanted: i64| -> Vec<&String> {
        serials.iter().filter(|(index, _)| class(index) == Some(wanted)).map(|(_, serial)| serial).collect()
    };
    if of_class(3).is_empty()
        && variables.below(&format!("{ENTITY}.5")).iter().any(|(_, class)| class == b"3")
    {
        return;
    }
    let container = |index: &str| variables.number(&format!("{ENTITY}.4.{index}"));
    let roots = || {
        serials.iter().filter(|(index, _)| container(index) == Some(0)).map(|(_, serial)| serial).collect()
    };
    let all =
        [of_class(3), of_class(11), roots(), if serials.len() == 1 { vec![&serials[0].1] } else { vec![] }];
    let Some(wanted) = all.iter().find(|serials| !serials.is_empty()) else { return };
    let example = || format!("{}: one of {:?}, we {found:?}", recording.name, &wanted[..wanted.len().min(4)]);
    if found.is_some_and(|found| wanted.iter().any(|serial| *serial == found)) {
        tally.agree("entity serial");
    } else {
        tally.ours("entity serial", "another serial number", example);
    }
}

fn trimmed(text: &str) -> String {
    text.trim_matches(|character: char| character.is_whitespace() || character.is_control()).to_owned()
}
