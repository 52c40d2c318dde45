//! The parameters of a query and the fields of a body, as data.

/// Maximum number of characters of a name.
pub(in crate::service) const MAX_NAME: usize = 100;

/// Maximum number of characters of the name of a device that reports.
#[cfg(feature = "discovery")]
pub(in crate::service) const MAX_REPORTER: usize = 255;

/// A query parameter, or a field of a body.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "only the OpenAPI document shows all of it"))]
pub(in crate::service) struct Parameter {
    pub(in crate::service) name: &'static str,
    pub(in crate::service) kind: Kind,
    pub(in crate::service) presence: Presence,
    pub(in crate::service) description: &'static str,
}

/// Whether a value must be given, and the meaning of `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Presence {
    Required,
    /// May be missing or null, which mean the same.
    Optional,
    /// May be missing; null clears the value.
    Nullable,
}

/// The values of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Kind {
    Id,
    /// This many ids.
    Ids {
        min: usize,
        max: usize,
    },
    Boolean,
    /// A boolean that is optional. A missing one counts as this value.
    Flag(bool),
    Time,
    /// Text of 1 to [`MAX_NAME`] characters, without the white space around it.
    Name,
    /// Text of this many characters.
    Text {
        min: usize,
        max: usize,
    },
    /// Text of this many characters that no response contains. Without a maximum, it is only compared with a secret.
    Secret {
        min: usize,
        max: Option<usize>,
    },
    /// Texts of at most this many characters by name. In a query, each is a parameter `custom.` and the name.
    Custom {
        max: usize,
    },
    /// A number between these bounds. In a query, a missing one counts as `default`.
    Number {
        min: i64,
        max: i64,
        default: Option<i64>,
    },
    /// One of these texts. In a query, a missing one counts as the first, unless it is nullable.
    Choice(&'static [&'static str]),
    /// Up to this many texts; in a query, repeated or separated by commas.
    Texts {
        format: &'static str,
        max: usize,
    },
    /// Up to this many texts that match a regular expression, as [`Texts`](Self::Texts).
    #[cfg_attr(
        not(feature = "topology"),
        allow(dead_code, reason = "only roles of topologies are such texts")
    )]
    Matching {
        pattern: &'static str,
        max: usize,
    },
    /// Up to this many of these texts, as [`Texts`](Self::Texts).
    Choices {
        of: &'static [&'static str],
        max: usize,
    },
    /// A JSON value of this schema.
    Schema(&'static str),
    /// A JSON list of values of this schema.
    Schemas(&'static str),
    /// A JSON list of this many values of a schema. Its reader checks the number when it splits the list: splitting a
    /// long list takes time, so it happens once.
    Sized {
        schema: &'static str,
        min: usize,
        max: usize,
    },
}

impl Kind {
    /// Returns the form of a value in a query, in words; `None` if the possible values state it.
    pub(in crate::service) fn form(self) -> Option<&'static str> {
        match self {
            Self::Id => Some("a UUID"),
            Self::Ids { .. } => Some("UUIDs, repeated or separated by commas"),
            Self::Boolean | Self::Flag(_) => Some("true or false"),
            Self::Time => Some("an RFC 3339 time, such as 2026-11-30T09:00:00Z"),
            Self::Number { .. } => Some("a whole number"),
            Self::Texts { format, .. } => Some(match format {
                "cidr" => "IP addresses or prefixes, such as 192.0.2.0/24",
                "ip" => "IP addresses",
                "mac-prefix" => "MAC addresses or the beginnings of some",
                "port" => "ports, such as 443, 443/Tcp or 8000-8100/Tcp",
                _ => "texts that are not empty",
            }),
            Self::Schema("IpAddress") => Some("an IP address"),
            _ => None,
        }
    }

    /// Returns whether the values of a list are texts that may have commas. In a query, such a comma is encoded.
    pub(in crate::service) fn may_have_commas(self) -> bool {
        matches!(self, Self::Texts { format: "text", .. })
    }
}

impl Parameter {
    pub(in crate::service) const fn required(
        name: &'static str,
        kind: Kind,
        description: &'static str,
    ) -> Self {
        Self { name, kind, presence: Presence::Required, description }
    }

    pub(in crate::service) const fn optional(
        name: &'static str,
        kind: Kind,
        description: &'static str,
    ) -> Self {
        Self { name, kind, presence: Presence::Optional, description }
    }

    pub(in crate::service) const fn nullable(
        name: &'static str,
        kind: Kind,
        description: &'static str,
    ) -> Self {
        Self { name, kind, presence: Presence::Nullable, description }
    }
}

/// The content of the body of a request.
#[derive(Clone, Copy, Debug)]
pub(in crate::service) enum RequestContent {
    /// Nothing: a body is not read.
    Nothing,
    /// A JSON object with these fields.
    Fields(&'static [Parameter]),
    /// A JSON object with these fields, or nothing. Content of other types is not read.
    #[cfg_attr(
        not(feature = "topology"),
        allow(dead_code, reason = "only the topology of a share is asked for so")
    )]
    Optional(&'static [Parameter]),
    /// A JSON object with these fields, which replace those of a record. Those of `kept` may be missing.
    Update { fields: &'static [Parameter], kept: &'static [&'static str] },
    /// A JSON merge patch of a record with these fields. `lock` is the field for the state that the client expects, if the
    /// record has such a state.
    Patch { fields: &'static [Parameter], lock: Option<&'static Parameter> },
    /// A JSON list of ids.
    Ids,
    /// JSON Lines or CSV: a host a row.
    HostRows,
    /// The output of a scanner or a device.
    #[cfg(feature = "discovery")]
    Report,
}

/// The time at which the client believes that the record last changed.
pub(in crate::service) const EXPECTED_UPDATED_AT: Parameter = Parameter::optional(
    "expected_updated_at",
    Kind::Time,
    "Refuses the change unless this is the record's `updated_at`, to the microsecond.",
);

impl RequestContent {
    /// Returns the fields of a JSON object; none for other content.
    pub(in crate::service) fn fields(self) -> impl Iterator<Item = &'static Parameter> {
        let (fields, lock) = match self {
            Self::Fields(fields) | Self::Optional(fields) => (fields, None),
            Self::Update { fields, .. } => (fields, Some(&EXPECTED_UPDATED_AT)),
            Self::Patch { fields, lock } => (fields, lock),
            _ => (&[][..], None),
        };
        fields.iter().chain(lock)
    }

    /// Returns whether the content is a JSON merge patch.
    pub(in crate::service) const fn is_patch(self) -> bool {
        matches!(self, Self::Patch { .. })
    }

    /// Returns whether a field must be given.
    pub(in crate::service) fn requires(self, field: &Parameter) -> bool {
        let is_kept = match self {
            Self::Update { kept, .. } => kept.contains(&field.name),
            Self::Patch { .. } => true,
            Self::Nothing | Self::Fields(_) | Self::Optional(_) | Self::Ids | Self::HostRows => false,
            #[cfg(feature = "discovery")]
            Self::Report => false,
        };
        field.presence == Presence::Required && !is_kept
    }
}
