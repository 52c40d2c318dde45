//! The fields of records, as data.
//!
//! A record is a plain struct. Beside it stands the table of its fields, a macro with a row for each field in the order
//! of the JSON: `host_fields!` beside [`Host`](super::Host), and so on for its parts. All code that treats the fields
//! of a record alike reads the table. A rule of a single field is code in the module that the rule belongs to.
//!
//! ```text
//! id: HostId;                                                      only the server sets it
//! name: String = required "The display name.", reported;           clients must give it, and devices report it
//! hidden: bool = "Whether user interfaces should hide the host.";  clients may give it; the sentence is for OpenAPI
//! ports: Vec<Port> = parts "The host's open ports.";               a list of parts, which are records of their own
//! ```
//!
//! The type determines the form of a field in the API, its limits, and what counts as empty: see [`Value`]. These marks
//! follow the sentence, separated by commas:
//!
//! | Mark | Meaning |
//! |---|---|
//! | `reported` | Reports of devices set the field, and merge it by the rules of `discovery::reconcile` |
//! | `concealed(…)` | A share that redacts this kind of value conceals the text wherever a picture shows it |
//! | `local` | The value refers to ids of this inventory: a CSV has the column only where a client asks for it |
//! | `kept` | A record that absorbs another keeps its own value, even an empty one, unless code of its own takes the other |
//!
//! The table is passed to another macro, which makes code of the rows: [`record!`] makes the data below, others make
//! the documents that requests and imports are read from. A struct with a field that its table lacks does not compile.

use std::fmt;

use super::Redaction;
use super::value::{Form, Texts, Value};

/// A record with a table of its fields.
pub trait Record: Sized + 'static {
    /// The fields, in the order of the JSON.
    const FIELDS: &'static [Field<Self>];

    /// The names of the fields.
    const NAMES: &'static [&'static str];

    /// About how many bytes the JSON has without texts and lists, rounded up.
    const PLAIN_SIZE: usize;

    /// Returns the texts of the record that clients and devices choose. The parts of a host are records of their own.
    fn texts(&self) -> impl Iterator<Item = Text<'_>> {
        let has_texts = |field: &&Field<Self>| field.setter != Setter::Server && !field.is_plain;
        Self::FIELDS.iter().filter(has_texts).flat_map(|field| {
            let texts = field.access.texts(self).into_iter().flatten();
            texts.map(|(within, text)| Text { field: field.name, within, text })
        })
    }

    /// Estimates the size of the record's JSON in bytes, rounding up. Only escapes in texts are not counted.
    fn likely_size(&self) -> usize {
        let others = Self::FIELDS.iter().filter(|field| !field.is_plain);
        Self::PLAIN_SIZE + others.map(|field| field.access.likely_size(self)).sum::<usize>()
    }

    /// Copies a field that clients set from another record.
    fn copy_field(&mut self, from: &Self, name: &str) {
        let field = Self::FIELDS.iter().find(|field| field.name == name && field.setter != Setter::Server);
        debug_assert!(field.is_some(), "`{name}` is no field that clients set");
        field.into_iter().for_each(|field| field.access.copy(self, from));
    }

    /// Returns the names of the fields that null clears.
    #[cfg(feature = "client")]
    fn nullable_names() -> impl Iterator<Item = &'static str> {
        let is_cleared = |field: &&Field<Self>| field.is_nullable && field.setter != Setter::Server;
        Self::FIELDS.iter().filter(is_cleared).map(|field| field.name)
    }

    /// Fills the empty fields that clients set from another record.
    #[cfg(feature = "discovery")]
    fn fill(&mut self, from: &Self) {
        for field in Self::FIELDS.iter().filter(|field| field.setter != Setter::Server && !field.is_kept) {
            if !field.access.is_set(self) {
                field.access.copy(self, from);
            }
        }
    }

    /// Returns the texts that shares conceal, each with the kind of value that it is.
    #[cfg(feature = "topology")]
    fn concealed_texts(&self) -> impl Iterator<Item = (Redaction, &str)> {
        Self::FIELDS.iter().filter_map(|field| {
            let [first, _] = field.access.texts(self);
            Some((field.redaction?, first?.1))
        })
    }
}

/// A field of a record.
#[cfg_attr(
    not(all(feature = "csv", feature = "discovery", feature = "topology")),
    allow(dead_code, reason = "some of the readers are features")
)]
pub struct Field<R: 'static> {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    /// Whether null is a value of the field.
    pub(crate) is_nullable: bool,
    /// Whether the field has neither texts nor lists.
    pub(crate) is_plain: bool,
    pub(crate) setter: Setter,
    /// The description of the field in the API, if clients set it.
    pub(crate) description: &'static str,
    /// Whether reports of devices set the field.
    pub(crate) is_reported: bool,
    /// The kind of value that shares conceal. It concerns the first text of the field.
    pub(crate) redaction: Option<Redaction>,
    /// Whether the value refers to ids of this inventory.
    pub(crate) is_local: bool,
    /// Whether a record that absorbs another keeps its own value in any case.
    pub(crate) is_kept: bool,
    pub(crate) access: &'static dyn Access<R>,
}

impl<R: 'static> fmt::Debug for Field<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Field").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The party that sets a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Setter {
    /// The server alone.
    Server,
    /// Clients, who must give the field.
    Required,
    /// Clients, who may leave the field out.
    Optional,
}

impl<R: 'static> Field<R> {
    /// Creates a field that only the server sets.
    pub(crate) const fn new<V: Value>(name: &'static str, access: &'static Accessor<R, V>) -> Self {
        Self {
            name,
            form: V::FORM,
            is_nullable: V::IS_NULLABLE,
            is_plain: V::IS_PLAIN,
            setter: Setter::Server,
            description: "",
            is_reported: false,
            redaction: None,
            is_local: false,
            is_kept: false,
            access,
        }
    }

    pub(crate) const fn required(self, description: &'static str) -> Self {
        Self { setter: Setter::Required, description, ..self }
    }

    pub(crate) const fn optional(self, description: &'static str) -> Self {
        Self { setter: Setter::Optional, description, ..self }
    }

    pub(crate) const fn reported(self) -> Self {
        Self { is_reported: true, ..self }
    }

    pub(crate) const fn concealed(self, redaction: Redaction) -> Self {
        Self { redaction: Some(redaction), ..self }
    }

    pub(crate) const fn local(self) -> Self {
        Self { is_local: true, ..self }
    }

    pub(crate) const fn kept(self) -> Self {
        Self { is_kept: true, ..self }
    }
}

/// A text of a record, with its path.
#[derive(Clone, Copy, Debug)]
pub struct Text<'r> {
    pub(crate) field: &'static str,
    /// The path within the field, such as `.value`; empty for the value of the field itself.
    pub(crate) within: &'static str,
    pub(crate) text: &'r str,
}

impl Text<'_> {
    pub(crate) fn path(&self) -> String {
        format!("{}{}", self.field, self.within)
    }
}

/// Reads and writes one field, whatever its type.
#[cfg_attr(
    not(all(feature = "csv", feature = "discovery", feature = "topology")),
    allow(dead_code, reason = "some of the readers are features")
)]
pub(crate) trait Access<R>: Sync {
    /// Returns whether the value is not empty.
    fn is_set(&self, record: &R) -> bool;
    /// Returns whether two records have the same value.
    fn is_equal(&self, one: &R, other: &R) -> bool;
    /// Copies the value from another record.
    fn copy(&self, record: &mut R, from: &R);
    /// Returns the texts of the value.
    fn texts<'r>(&self, record: &'r R) -> Texts<'r>;
    /// Returns about how many bytes of JSON the texts and lists of the value take.
    fn likely_size(&self, record: &R) -> usize;
    /// Returns the value as JSON.
    fn json(&self, record: &R) -> serde_json::Result<String>;
}

/// The place of a field in its struct.
pub(crate) struct Accessor<R, V> {
    pub(crate) get: fn(&R) -> &V,
    pub(crate) get_mut: fn(&mut R) -> &mut V,
}

impl<R, V: Value> Access<R> for Accessor<R, V> {
    fn is_set(&self, record: &R) -> bool {
        (self.get)(record).is_set()
    }

    fn is_equal(&self, one: &R, other: &R) -> bool {
        (self.get)(one) == (self.get)(other)
    }

    fn copy(&self, record: &mut R, from: &R) {
        (self.get_mut)(record).clone_from((self.get)(from));
    }

    fn texts<'r>(&self, record: &'r R) -> Texts<'r> {
        (self.get)(record).texts()
    }

    fn likely_size(&self, record: &R) -> usize {
        (self.get)(record).likely_size()
    }

    fn json(&self, record: &R) -> serde_json::Result<String> {
        serde_json::to_string((self.get)(record))
    }
}

/// Implements [`Record`] by a table of fields.
macro_rules! record {
    ([] $record:ident: $size:literal; $(
        $field:ident: $type:ty
        $(= $(required $required:literal)? $(parts $parts:literal)? $($optional:literal)?
            $(, $mark:ident $(($argument:expr))?)*)?;
    )*) => {
        impl $crate::model::Record for $record {
            const FIELDS: &'static [$crate::model::Field<Self>] = &[$(
                $crate::model::Field::new(
                    stringify!($field),
                    &$crate::model::Accessor::<Self, $type> {
                        get: |record| &record.$field,
                        get_mut: |record| &mut record.$field,
                    },
                )
                $($(.required($required))? $(.optional($parts))? $(.optional($optional))?
                    $(.$mark($($argument)?))*)?,
            )*];

            const NAMES: &'static [&'static str] = &[$(stringify!($field)),*];

            const PLAIN_SIZE: usize = $size;
        }

        // Without a row for each field of the struct, this does not compile.
        const _: fn($record) = |$record { $($field: _),* }| ();
    };
}

pub(crate) use record;

/// Makes a record of which all fields are empty or zero.
macro_rules! empty_record {
    ([] $record:ident: $size:literal; $(
        $field:ident: $type:ty
        $(= $(required $required:literal)? $(parts $parts:literal)? $($optional:literal)?
            $(, $mark:ident $(($argument:expr))?)*)?;
    )*) => {
        $record { $($field: Default::default()),* }
    };
}

pub(crate) use empty_record;
