//! A copy of the table of hosts with one more field, for tests of the readers of the
//! table.
//!
//! A test of each reader shows that the row alone makes the field known.

use serde::Serialize;

use super::{
    CredentialAssignment, Custom, Form, HostId, HostRole, HostVirtualization, IfEntry, Interface,
    LldpChassisId, NetworkId, Port, Record, Redaction, Service, Setter, Source, TagId, Timestamp,
    host_fields, record,
};

/// The fields of a host, and `rack`.
macro_rules! extended_fields {
    ($then:ident $($argument:tt)*) => { host_fields!(extend $then $($argument)*); };
}

/// Adds a row to the table of hosts.
macro_rules! extend {
    ([$then:ident $($argument:tt)*] Host: $size:literal; $($rows:tt)*) => {
        $then! { [$($argument)*] Extended: $size; $($rows)*
            rack: Option<String> = "The rack.", reported, concealed(Redaction::Names);
        }
    };
}

pub(crate) use {extend, extended_fields};

macro_rules! declare {
    ([] $record:ident: $size:literal; $(
        $field:ident: $type:ty
        $(= $(required $required:literal)? $(parts $parts:literal)? $($optional:literal)?
            $(, $mark:ident $(($argument:expr))?)*)?;
    )*) => {
        /// A host in a rack.
        #[derive(Debug, Default, PartialEq, Serialize)]
        pub(crate) struct $record {
            $(pub(crate) $field: $type,)*
        }
    };
}

extended_fields!(declare);
extended_fields!(record);

fn in_rack(rack: &str) -> Extended {
    Extended { rack: Some(rack.to_owned()), ..Extended::default() }
}

#[test]
fn new_field_has_the_form_and_the_limits_of_its_type() {
    let field = Extended::FIELDS.last().unwrap();
    assert_eq!((field.name, field.description), ("rack", "The rack."));
    assert_eq!((field.form, field.is_nullable), (Form::Text { min: 0, max: 65_536 }, true));
    assert_eq!((field.setter, field.is_reported), (Setter::Optional, true));
    assert_eq!(Extended::NAMES.last(), Some(&"rack"));
    assert_eq!(Extended::NAMES.len(), Extended::FIELDS.len());
}

#[test]
fn texts_of_a_new_field_are_limited_counted_and_concealed() {
    let record = in_rack("R4");
    assert!(record.texts().any(|text| text.path() == "rack" && text.text == "R4"));
    assert_eq!(record.likely_size(), Extended::default().likely_size() + 2);
    #[cfg(feature = "topology")]
    assert_eq!(
        record.concealed_texts().collect::<Vec<_>>(),
        [(Redaction::Names, ""), (Redaction::Names, "R4")]
    );
}

#[test]
fn new_field_is_copied_and_cleared() {
    let mut record = Extended::default();
    record.copy_field(&in_rack("R4"), "rack");
    assert_eq!(record, in_rack("R4"));
    record.copy_field(&Extended::default(), "rack");
    assert_eq!(record, Extended::default());
    #[cfg(feature = "client")]
    assert!(Extended::nullable_names().any(|name| name == "rack"));
}

#[cfg(feature = "discovery")]
#[test]
fn new_field_is_filled_where_it_is_empty() {
    let mut record = Extended::default();
    record.fill(&in_rack("R4"));
    assert_eq!(record, in_rack("R4"));
    record.fill(&in_rack("R5"));
    assert_eq!(record, in_rack("R4"));
}
