use super::document::HostDocument;
use super::repair::{count_cut_times, repair};
use super::report::{Alterations, Refusal};
use crate::inventory::dotted;
use crate::inventory::hosts::{EncodedHost, HostEncoder};
use crate::inventory::{Error, ErrorKind};

/// A line that was parsed to a host.
#[derive(Debug)]
pub(super) struct ParsedLine {
    pub(super) line: u64,
    pub(super) encoded: EncodedHost,
    pub(super) notes: Alterations,
}

/// Parses one line, repairs odd values, and encodes the host for the store.
pub(super) fn parse(line: u64, bytes: &[u8], encoder: HostEncoder) -> Result<ParsedLine, Refusal> {
    // Some editors begin UTF-8 files with a byte order mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut notes = Alterations::default();
    let document = read(line, bytes)?;
    count_cut_times(bytes, &mut notes);
    let host = repair(document, line, &mut notes);
    let encoded = encoder.encode(host).map_err(|error| {
        let refusal = refusal(line, &error);
        Refusal { field: refusal.field.map(|field| notes.place_in_document(field)), ..refusal }
    })?;
    Ok(ParsedLine { line, encoded, notes })
}

/// Deserializes a document. On failure, deserializes again to locate the fault.
///
/// Path tracking is slower, and nearly all lines are valid.
fn read(line: u64, bytes: &[u8]) -> Result<HostDocument, Refusal> {
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Refusal { line, field: None, reason: "not a JSON object".to_owned() });
    }
    serde_json::from_slice(bytes).or_else(|_| {
        let mut reader = serde_json::Deserializer::from_slice(bytes);
        let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let field = dotted(error.path());
            Refusal { line, field, reason: error.into_inner().to_string() }
        });
        let document = read?;
        let ended = reader.end();
        ended.map_err(|error| Refusal { line, field: None, reason: error.to_string() })?;
        Ok(document)
    })
}

/// Converts a validation error to a refusal.
pub(super) fn refusal(line: u64, error: &Error) -> Refusal {
    match error.kind() {
        ErrorKind::Invalid { field, problem } => {
            Refusal { line, field: Some(field.clone()), reason: problem.to_string() }
        }
        ErrorKind::ReferenceInvalid { entity, field } => Refusal {
            line,
            field: Some(field.clone()),
            reason: format!("does not refer to an existing {entity}"),
        },
        _ => Refusal { line, field: None, reason: error.to_string() },
    }
}
