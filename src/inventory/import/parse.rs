//! Parsing of imported lines, and repair of odd values with a count of every alteration.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use uuid::Uuid;

use super::described::{GivenTimes, LeftOut};
use super::document::HostDocument;
use super::draft::LineDraft;
use super::report::Alterations;
use super::row_fields::RowFields;
use super::times::count_truncated_times;
use crate::inventory::hosts::{EncodedHost, check_host_texts, check_lock, missing_fields, parse_object};
use crate::inventory::{Error, ErrorKind, Inventory, Problem};
use crate::lines::is_utf_16;
use crate::model::{Host, NetworkId, OrganizationId, Timestamp};
use crate::wire::{Reassignment, Refusal};

/// A line that was parsed to a host.
#[derive(Debug)]
pub(super) struct ParsedLine {
    pub(super) facts: LineFacts,
    pub(super) host: LineHost,
}

/// The facts about a line that its host does not have.
#[derive(Debug)]
pub(super) struct LineFacts {
    pub(super) line: u64,
    pub(super) alterations: Alterations,
    /// Whether the line has no id, so that the host is new.
    pub(super) is_new: bool,
    /// The `updated_at` that the client expects of the stored host.
    pub(super) expected_updated_at: Option<Timestamp>,
    /// The new id of a host whose own id belongs to another organization.
    pub(super) reassignment: Option<Reassignment>,
}

/// The host of a line.
#[derive(Debug)]
pub(super) enum LineHost {
    Encoded(Box<EncodedHost>),
    /// A host with an id that leaves values to the server. Only with those of the stored host, its references can be checked.
    Incomplete(Box<Host>, LeftOut),
}

impl ParsedLine {
    pub(super) fn host(&self) -> &Host {
        match &self.host {
            LineHost::Encoded(encoded) => &encoded.host,
            LineHost::Incomplete(host, _) => host,
        }
    }
}

/// Parses lines of one organization.
#[derive(Clone, Debug)]
pub(super) struct LineParser {
    pub(super) inventory: Inventory,
    pub(super) organization: OrganizationId,
    /// The network of lines that name none.
    pub(super) network: Option<NetworkId>,
    /// The fields that rows of a CSV have; `None` for lines of JSON.
    pub(super) row_fields: Option<Arc<RowFields>>,
    /// When the import began.
    pub(super) began_at: Timestamp,
}

impl LineParser {
    /// Parses one line, repairs odd values, and encodes the host for the store.
    ///
    /// The outer error ends the import.
    pub(super) fn parse(&self, line: u64, bytes: &[u8]) -> Result<Result<ParsedLine, Refusal>, Error> {
        // Some editors begin UTF-8 files with a byte order mark.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut alterations = Alterations::default();
        let document = match self.read(line, bytes) {
            Ok(document) => document,
            Err(refusal) => return Ok(Err(refusal)),
        };
        count_truncated_times(bytes, &mut alterations);
        let is_new = document.id.is_nil();
        let expected_updated_at = document.expected_updated_at;
        if let Err(error) = check_lock(expected_updated_at, document.id.into()) {
            return Ok(Err(refusal(line, &error)));
        }
        let given_times = GivenTimes::of(&document);
        let drafted = RefCell::default();
        let draft = self.draft(line, &drafted);
        let host = draft.complete(document, &mut alterations)?;
        let (drafted, row_fields) = (drafted.into_inner(), self.row_fields.clone());
        let is_incomplete = row_fields.is_some() || given_times.created_at.is_none() || !drafted.is_empty();
        let encoder = self.inventory.host_encoder(self.organization);
        let host = check_host_texts(&host, None).and_then(|()| {
            Ok(if !is_new && is_incomplete {
                LineHost::Incomplete(Box::new(host), LeftOut { drafted, given_times, row_fields })
            } else {
                LineHost::Encoded(Box::new(encoder.encode(host)?))
            })
        });
        Ok(match host {
            Ok(host) => {
                let facts = LineFacts { line, alterations, is_new, expected_updated_at, reassignment: None };
                Ok(ParsedLine { facts, host })
            }
            Err(error) => Err(refusal_of_host(line, &error, &alterations)),
        })
    }

    /// Deserializes a document. One that names no network is on that of the import.
    fn read(&self, line: u64, bytes: &[u8]) -> Result<HostDocument, Refusal> {
        let document = parse_object(bytes).and_then(|document| self.with_required(document, bytes));
        document.map_err(|error| {
            let refusal = refusal(line, &error);
            match refusal.field.filter(|field| !field.is_empty()) {
                Some(field) => Refusal { field: Some(field), ..refusal },
                None => {
                    let reason = match bytes.trim_ascii_start().first() {
                        _ if is_utf_16(bytes) => "UTF-16 text and not UTF-8",
                        Some(b'{') => "not valid JSON",
                        _ => "not a JSON object",
                    };
                    Refusal { line, field: None, reason: reason.to_owned(), code: None }
                }
            }
        })
    }

    /// Refuses a document without a required field, except for a network that stands in, and fields without a column that the
    /// stored host has.
    fn with_required(&self, mut document: HostDocument, bytes: &[u8]) -> Result<HostDocument, Error> {
        // Only a field that is missing or empty needs the second pass that distinguishes both.
        if !document.network_id.is_nil() && !document.name.is_empty() {
            return Ok(document);
        }
        let stored_fields = self.row_fields.as_ref().filter(|_| !document.id.is_nil());
        let is_stored = |field: &&str| stored_fields.is_some_and(|columns| !columns.has(field));
        for field in missing_fields(bytes)?.into_iter().filter(|field| !is_stored(field)) {
            match self.network {
                Some(network) if field == "network_id" => document.network_id = network,
                _ => return Err(Error::invalid(field, Problem::Required)),
            }
        }
        Ok(document)
    }

    fn draft<'d>(&'d self, line: u64, drafted: &'d RefCell<HashSet<Uuid>>) -> LineDraft<'d> {
        // Hosts without times are listed in the order of their lines.
        let now = self.began_at.plus_micros(i64::try_from(line).unwrap_or(i64::MAX));
        LineDraft { inventory: &self.inventory, drafted, line, now }
    }
}

/// Converts the error of a host to a refusal, whose field is the path in the document.
pub(super) fn refusal_of_host(line: u64, error: &Error, alterations: &Alterations) -> Refusal {
    let refusal = refusal(line, error);
    Refusal { field: refusal.field.map(|field| alterations.document_path(field)), ..refusal }
}

/// Converts a validation error to a refusal.
pub(super) fn refusal(line: u64, error: &Error) -> Refusal {
    match error.kind() {
        ErrorKind::Invalid { field, problem } => {
            Refusal { line, field: Some(field.clone()), reason: problem.to_string(), code: None }
        }
        ErrorKind::ReferenceInvalid { entity, field } => Refusal {
            line,
            field: Some(field.clone()),
            reason: format!("does not refer to an existing {entity}"),
            code: None,
        },
        ErrorKind::Outdated { .. } => Refusal {
            line,
            field: Some("expected_updated_at".to_owned()),
            reason: error.to_string(),
            code: Some(error.code().as_str().to_owned()),
        },
        _ => Refusal {
            line,
            field: error.field().map(str::to_owned),
            reason: error.to_string(),
            code: error.application_code().map(|code| code.as_str().to_owned()),
        },
    }
}
