//! Variables from recordings of snmpsim and from numeric walks.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use toposcope::collect::snmp::{ObjectId, SnmpValue};

use crate::farm::Variables;

/// Returns the folder of the test data. If it is missing, it prints a message.
pub(crate) fn data(folder: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from).join(folder);
    if data.is_dir() {
        return Some(data);
    }
    println!("skipped: no {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
    None
}

/// Reads a file, unpacked.
pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    let program = match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => "gzip",
        Some("bz2") => "bzip2",
        _ => return fs::read(path).unwrap(),
    };
    let output = Command::new(program).arg("-dc").arg(path).output();
    output.map(|output| output.stdout).unwrap_or_default()
}

fn arcs(text: &str) -> Option<Vec<u32>> {
    text.trim().trim_start_matches('.').split('.').map(|arc| arc.parse().ok()).collect()
}

/// Reads a recording. Lines that the simulator computes are left out.
pub(crate) fn recorded(bytes: &[u8]) -> Variables {
    let mut variables = Variables::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(3, |byte| *byte == b'|');
        let (Some(id), Some(tag), Some(text)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let id = str::from_utf8(id).ok().and_then(arcs);
        let tag = str::from_utf8(tag).unwrap_or_default();
        if let (Some(id), Some(value)) = (id, recorded_value(tag, text)) {
            variables.insert(id, value);
        }
    }
    variables
}

fn recorded_value(tag: &str, text: &[u8]) -> Option<SnmpValue> {
    let word = || str::from_utf8(text).ok().map(str::trim);
    let bytes = if tag.ends_with('x') { hex(word()?)? } else { text.to_vec() };
    Some(match tag {
        "2" => SnmpValue::Integer(word()?.parse().ok()?),
        "4" | "4x" => SnmpValue::Bytes(bytes.into()),
        "6" => SnmpValue::ObjectId(ObjectId::new(arcs(word()?)?)),
        "64x" => SnmpValue::IpAddress(bytes.try_into().ok()?),
        "64" => SnmpValue::IpAddress(word()?.parse::<std::net::Ipv4Addr>().ok()?.octets()),
        "65" => SnmpValue::Counter32(word()?.parse().ok()?),
        "66" => SnmpValue::Gauge32(word()?.parse().ok()?),
        "67" => SnmpValue::TimeTicks(word()?.parse().ok()?),
        "70" => SnmpValue::Counter64(word()?.parse().ok()?),
        _ => return None,
    })
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}

/// Reads a numeric walk of net-snmp.
pub(crate) fn walked(bytes: &[u8]) -> Variables {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match lines.last_mut() {
            Some(last) if !line.starts_with('.') => *last += &format!("\n{line}"),
            _ => lines.push(line.to_owned()),
        }
    }
    let variable = |line: &String| {
        let (id, value) = line.split_once(" = ")?;
        Some((arcs(id)?, walked_value(value)?))
    };
    lines.iter().filter_map(variable).collect()
}

fn walked_value(text: &str) -> Option<SnmpValue> {
    if text == "\"\"" {
        return Some(SnmpValue::Bytes([].into()));
    }
    let (kind, value) = text.split_once(": ")?;
    let number = || {
        let digits = value.split_once('(').map_or(value, |(_, digits)| digits);
        digits.split(|character: char| !character.is_ascii_digit() && character != '-').next()
    };
    Some(match kind {
        "INTEGER" => SnmpValue::Integer(number()?.parse().ok()?),
        "Counter32" => SnmpValue::Counter32(number()?.parse().ok()?),
        "Gauge32" => SnmpValue::Gauge32(number()?.parse().ok()?),
        "Timeticks" => SnmpValue::TimeTicks(number()?.parse().ok()?),
        "Counter64" => SnmpValue::Counter64(number()?.parse().ok()?),
        "STRING" => {
            let value = value.trim_matches('"').replace("\\\"", "\"").replace("\\\\", "\\");
            SnmpValue::Bytes(value.into_bytes().into())
        }
        "Hex-STRING" => SnmpValue::Bytes(hex(value)?.into()),
        "OID" => SnmpValue::ObjectId(ObjectId::new(arcs(value)?)),
        "IpAddress" => SnmpValue::IpAddress(value.parse::<std::net::Ipv4Addr>().ok()?.octets()),
        _ => return None,
    })
}
