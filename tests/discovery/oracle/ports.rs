//! Interfaces.

use std::collections::BTreeMap;

use serde_json::Value;
use toposcope::discovery::report::IfEntryRow;

use super::recording::{Recording, Variables};
use super::tally::Tally;

const IF_TABLE: &str = "1.3.6.1.2.1.2.2.1";
const IF_X_TABLE: &str = "1.3.6.1.2.1.31.1.1.1";

pub(crate) fn compare(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    let rows = recording.device().tables.if_entries.iter().flat_map(|table| &table.rows);
    let rows: BTreeMap<i64, &IfEntryRow> = rows.map(|row| (row.if_index, row)).collect();
    for expected in recording.rows("ports") {
        let index = expected[0].as_i64().unwrap();
        let example = || format!("{}: ifIndex {index} {}", recording.name, expected[2]);
        match rows.get(&index) {
            Some(row) => {
                tally.agree("ifIndex");
                Port { recording, variables, expected, row }.compare(tally);
            }
            None if !has_interface(variables, index) => {
                tally.theirs("ifIndex", "no variable of ifTable or ifXTable has the index", example);
            }
            None => tally.ours("ifIndex", "missing", example),
        }
    }
}

fn has_interface(variables: &Variables<'_>, index: i64) -> bool {
    let columns = |table: &'static str, last: u32| (1..=last).map(move |column| format!("{table}.{column}"));
    columns(IF_TABLE, 22)
        .chain(columns(IF_X_TABLE, 19))
        .any(|column| variables.has(&format!("{column}.{index}")))
}

struct Port<'r> {
    recording: &'r Recording,
    variables: &'r Variables<'r>,
    expected: &'r Value,
    row: &'r IfEntryRow,
}

impl Port<'_> {
    fn compare(&self, tally: &mut Tally) {
        self.compare_text("ifName", 1, self.row.if_name.as_deref(), self.variable(IF_X_TABLE, 1), tally);
        self.compare_text("ifDescr", 2, self.row.if_descr.as_deref(), self.variable(IF_TABLE, 2), tally);
        self.compare_text("ifAlias", 3, self.row.if_alias.as_deref(), self.variable(IF_X_TABLE, 18), tally);
        self.compare_type(tally);
        self.compare_speed(tally);
        self.compare_mac(tally);
        let status = |status: Option<Value>| status.and_then(|status| status.as_str().map(str::to_lowercase));
        let admin = status(self.row.admin_status.map(|status| serde_json::to_value(status).unwrap()));
        let oper = status(self.row.oper_status.map(|status| serde_json::to_value(status).unwrap()));
        self.compare_status(7, admin.as_deref(), tally);
        self.compare_status(8, oper.as_deref(), tally);
    }

    fn variable(&self, table: &str, column: u32) -> Option<String> {
        self.variables.text(&format!("{table}.{column}.{}", self.row.if_index))
    }

    fn example(&self, column: usize, found: impl std::fmt::Debug) -> String {
        let index = self.row.if_index;
        format!("{}: ifIndex {index}: they have {}, we {found:?}", self.recording.name, self.expected[column])
    }

    /// Compares text. The poller removes quotes and white space at the ends, and fills empty names.
    fn compare_text(
        &self,
        kind: &'static str,
        column: usize,
        found: Option<&str>,
        sent: Option<String>,
        tally: &mut Tally,
    ) {
        let Some(wanted) = self.expected[column].as_str().filter(|text| !text.is_empty()) else { return };
        let found_text = plain(found.unwrap_or_default());
        let sent = plain(&sent.unwrap_or_default());
        let example = || self.example(column, found);
        if found_text == plain(wanted) {
            tally.agree(kind);
        } else if sent.is_empty() && found_text.is_empty() {
            tally.theirs(kind, "the recording has no text, and the poller fills it in", example);
        } else if found_text == sent {
            tally.theirs(kind, "the recording has our text", example);
        } else {
            tally.ours(kind, "another text than the recording has", example);
        }
    }

    fn compare_type(&self, tally: &mut Tally) {
        let Some(wanted) = self.expected[4].as_str() else { return };
        let sent = self.variable(IF_TABLE, 3).and_then(|sent| sent.trim().parse().ok());
        let example = || self.example(4, self.row.if_type);
        match (type_number(wanted), self.row.if_type) {
            (Some(wanted), Some(found)) if wanted == found => tally.agree("ifType"),
            (_, found) if found == sent => tally.theirs("ifType", "the recording has our number", example),
            _ => tally.ours("ifType", "another number than the recording has", example),
        }
    }

    fn compare_speed(&self, tally: &mut Tally) {
        let Some(wanted) = self.expected[5].as_u64().filter(|speed| *speed > 0) else { return };
        let found = self.row.speed_bps;
        let sent = self.variable(IF_TABLE, 5).and_then(|sent| sent.trim().parse::<u64>().ok());
        let high = self.variable(IF_X_TABLE, 15).and_then(|sent| sent.trim().parse::<u64>().ok());
        let example = || format!("{}; ifSpeed {sent:?}, ifHighSpeed {high:?}", self.example(5, found));
        let sent_high = high.filter(|high| *high > 0).map(|high| high.saturating_mul(1_000_000));
        if found == Some(wanted) {
            tally.agree("speed");
        } else if sent.is_none() && high.is_none() {
            tally.theirs("speed", "the recording has no speed", example);
        } else if found.is_none()
            && wanted >= u64::from(u32::MAX)
            && sent == Some(u64::from(u32::MAX))
            && sent_high.is_none()
        {
            tally.theirs("speed", "ifSpeed is at its limit, and there is no ifHighSpeed", example);
        } else if wanted > 10_000_000_000_000 {
            tally.theirs("speed", "above 10 Tbit/s", example);
        } else if found.is_none() && sent.is_none() && high.is_some_and(|high| high > 10_000_000) {
            tally.theirs("speed", "ifHighSpeed is above 10 Tbit/s, and there is no ifSpeed", example);
        } else if sent_high.is_some() && sent_high == found {
            tally.theirs("speed", "ifHighSpeed is our speed", example);
        } else if sent == found && high.is_some_and(|high| Some(high) == sent) {
            tally.theirs("speed", "ifHighSpeed is in bits per second", example);
        } else if sent == found && sent_high.is_none() {
            tally.theirs("speed", "ifSpeed is our speed, and ifHighSpeed is none", example);
        } else {
            tally.ours("speed", "another speed", example);
        }
    }

    fn compare_mac(&self, tally: &mut Tally) {
        let Some(wanted) = self.expected[6].as_str().filter(|mac| mac.chars().any(|digit| digit != '0'))
        else {
            return;
        };
        let found = self.row.mac_address.map(|mac| mac.to_string().replace(':', "").to_lowercase());
        let sent = self.variables.get(&format!("{IF_TABLE}.6.{}", self.row.if_index));
        let example = || format!("{}; ifPhysAddress {sent:02x?}", self.example(6, &found));
        if found.as_deref() == Some(wanted) {
            tally.agree("MAC");
        } else if sent.as_ref().is_none_or(Vec::is_empty) {
            tally.theirs("MAC", "the recording has no ifPhysAddress", example);
        } else if found.is_none() && sent.as_ref().is_some_and(|sent| !matches!(sent.len(), 6 | 12 | 17)) {
            tally.theirs("MAC", "ifPhysAddress has not 6 bytes", example);
        } else {
            tally.ours("MAC", "another address", example);
        }
    }

    fn compare_status(&self, column: usize, found: Option<&str>, tally: &mut Tally) {
        let Some(wanted) = self.expected[column].as_str() else { return };
        let sent = self.variable(IF_TABLE, column as u32).map(|sent| sent.trim().parse::<usize>().ok());
        let names = ["up", "down", "testing", "unknown", "dormant", "notpresent", "lowerlayerdown"];
        let names = if column == 7 { &names[..3] } else { &names[..] };
        let sent_name = sent.flatten().and_then(|number| names.get(number.checked_sub(1)?)).copied();
        let example = || self.example(column, found);
        if found == Some(&wanted.to_lowercase()) {
            tally.agree("status");
        } else if sent.is_none() {
            tally.theirs("status", "the recording has no status", example);
        } else if found == sent_name {
            let class = if found.is_none() {
                "the recording has a number outside the MIB"
            } else {
                "the recording has our status"
            };
            tally.theirs("status", class, example);
        } else {
            tally.ours("status", "another status", example);
        }
    }
}

/// Returns text without quotes, white space at the ends and control characters.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().filter(|character| !character.is_control() && *character != '"').collect();
    text.trim_matches(|character: char| character.is_whitespace() || character == '\'').to_owned()
}

/// Returns the number of `ifType` for the names of IANA that the poller uses most.
fn type_number(name: &str) -> Option<i64> {
    let number = match name {
        "other" => 1,
        "ethernetCsmacd" => 6,
        "iso88023Csmacd" => 7,
        "ppp" => 23,
        "softwareLoopback" => 24,
        "rs232" => 33,
        "propVirtual" => 53,
        "propMultiplexor" => 54,
        "fastEther" => 62,
        "ieee80211" => 71,
        "vdsl" => 97,
        "gigabitEthernet" => 117,
        "tunnel" => 131,
        "l2vlan" => 135,
        "l3ipvlan" => 136,
        "ipForward" => 142,
        "ieee8023adLag" => 161,
        "shdsl" => 169,
        "opticalChannel" => 195,
        "opticalTransport" => 196,
        "bridge" => 209,
        "gpon" => 250,
        _ => return None,
    };
    Some(number)
}
