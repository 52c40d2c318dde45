use serde_json::{Value, json};
use toposcope::model::Permission;

use crate::common::{Fixture, LAB, OFFICE, with};

/// A kind of record with its endpoints.
pub(super) struct Kind {
    pub(super) path: &'static str,
    pub(super) entity: &'static str,
    /// A valid body of a creation, with every field that a client may set. `None`: records of this kind cannot be
    /// created.
    body: Option<Value>,
    /// The field that distinguishes records, and its text for a number.
    distinct: (&'static str, fn(usize) -> String),
    /// The required fields of an update. A creation requires them as well.
    pub(super) required: &'static [&'static str],
    /// Each field that an update may change, with another value.
    pub(super) changes: Vec<(&'static str, Value)>,
    /// The fields that `null` clears.
    pub(super) nullable: &'static [&'static str],
    /// The lowest levels that may read, create and change.
    pub(super) levels: [Permission; 3],
    pub(super) needs_session: bool,
    pub(super) can_delete: bool,
    pub(super) can_bulk_delete: bool,
    /// Whether the record belongs to a network.
    pub(super) has_network: bool,
    pub(super) has_name: bool,
}

use Permission::{Admin, Member, Owner, Viewer};

const UNTIL: &str = "2027-01-01T00:00:00Z";

pub(super) const KINDS: [fn(&Fixture) -> Kind; 8] =
    [tags, networks, subnets, shares, user_keys, daemon_keys, users, organizations];

impl Kind {
    pub(super) fn body(&self, number: usize) -> Option<Value> {
        let (field, text) = self.distinct;
        self.body.as_ref().map(|body| with(body, field, text(number)))
    }

    /// Returns the fields that are lists, which an empty list empties.
    pub(super) fn lists(&self) -> impl Iterator<Item = &'static str> {
        self.changes.iter().filter(|(_, value)| value.is_array()).map(|(field, _)| *field)
    }
}

fn name(number: usize) -> String {
    format!("name {number}")
}

fn tags(_: &Fixture) -> Kind {
    Kind {
        path: "/api/v1/tags",
        entity: "Tag",
        body: Some(json!({"description": "some", "color": "#00ff7f"})),
        distinct: ("name", name),
        required: &["name"],
        changes: vec![
            ("name", json!("another")),
            ("description", json!("other")),
            ("color", json!("#123456")),
        ],
        nullable: &["description", "color"],
        levels: [Viewer, Member, Admin],
        needs_session: false,
        can_delete: true,
        can_bulk_delete: true,
        has_network: false,
        has_name: true,
    }
}

fn networks(fixture: &Fixture) -> Kind {
    let tags = fixture.home.tags;
    Kind {
        path: "/api/v1/networks",
        entity: "Network",
        body: Some(json!({"description": "some", "tags": [tags[0]]})),
        changes: vec![
            ("name", json!("another")),
            ("description", json!("other")),
            ("tags", json!([tags[1]])),
        ],
        nullable: &["description"],
        levels: [Viewer, Admin, Admin],
        needs_session: true,
        can_bulk_delete: false,
        ..self::tags(fixture)
    }
}

fn subnets(fixture: &Fixture) -> Kind {
    let tags = fixture.home.tags;
    Kind {
        path: "/api/v1/subnets",
        entity: "Subnet",
        body: Some(json!({
            "network_id": OFFICE,
            "name": "a subnet",
            "description": "some",
            "subnet_type": "Lan",
            "source": {"type": "System"},
            "tags": [tags[0]],
        })),
        distinct: ("cidr", |number| format!("10.{number}.0.0/16")),
        required: &["network_id", "name", "cidr"],
        changes: vec![
            ("name", json!("another")),
            ("cidr", json!("2001:db8::/32")),
            ("description", json!("other")),
            ("subnet_type", json!("Guest")),
            ("source", json!({"type": "Manual"})),
            ("tags", json!([tags[1]])),
        ],
        nullable: &["description"],
        levels: [Viewer, Member, Member],
        has_network: true,
        ..self::tags(fixture)
    }
}

fn shares(fixture: &Fixture) -> Kind {
    let options = |shown: bool| {
        json!({
            "show_export_button": shown,
            "show_inspect_panel": shown,
            "show_minimap": shown,
            "show_zoom_controls": shown,
        })
    };
    Kind {
        path: "/api/v1/shares",
        entity: "Share",
        body: Some(json!({
            "network_id": OFFICE,
            "is_enabled": false,
            "expires_at": UNTIL,
            "options": options(true),
            "view": "l3",
            "redact": ["names"],
        })),
        required: &["network_id", "name"],
        changes: vec![
            ("name", json!("another")),
            ("is_enabled", json!(true)),
            ("expires_at", json!("2028-01-01T00:00:00Z")),
            ("options", options(false)),
            ("view", json!("workloads")),
            ("redact", json!(["macs", "serials"])),
        ],
        nullable: &["expires_at"],
        levels: [Member, Member, Member],
        has_network: true,
        ..tags(fixture)
    }
}

fn user_keys(fixture: &Fixture) -> Kind {
    let tags = fixture.home.tags;
    Kind {
        path: "/api/v1/auth/keys",
        entity: "User API Key",
        body: Some(json!({
            "permissions": "Viewer",
            "network_ids": [OFFICE],
            "tags": [tags[0]],
            "expires_at": UNTIL,
            "is_enabled": false,
        })),
        required: &["name", "organization_id", "user_id", "tags"],
        changes: vec![
            ("name", json!("another")),
            ("permissions", json!("Member")),
            ("network_ids", json!([LAB])),
            ("tags", json!([tags[1]])),
            ("expires_at", json!("2028-01-01T00:00:00Z")),
            ("is_enabled", json!(true)),
        ],
        nullable: &["expires_at"],
        levels: [Viewer, Viewer, Viewer],
        needs_session: true,
        ..self::tags(fixture)
    }
}

fn daemon_keys(fixture: &Fixture) -> Kind {
    let tags = fixture.home.tags;
    Kind {
        path: "/api/v1/auth/daemon",
        entity: "Daemon API Key",
        body: Some(json!({
            "network_id": OFFICE,
            "tags": [tags[0]],
            "expires_at": UNTIL,
            "is_enabled": false,
        })),
        required: &["name", "network_id", "tags"],
        changes: vec![
            ("name", json!("another")),
            ("tags", json!([tags[1]])),
            ("expires_at", json!("2028-01-01T00:00:00Z")),
            ("is_enabled", json!(true)),
        ],
        nullable: &["expires_at"],
        levels: [Member, Member, Member],
        has_network: true,
        ..self::tags(fixture)
    }
}

fn users(fixture: &Fixture) -> Kind {
    Kind {
        path: "/api/v1/users",
        entity: "User",
        body: Some(json!({
            "permissions": "Viewer",
            "network_ids": [OFFICE],
            "password": "correct horse battery",
        })),
        distinct: ("email", |number| format!("person{number}@example.org")),
        required: &["permissions", "network_ids"],
        changes: vec![
            ("permissions", json!("Member")),
            ("network_ids", json!([LAB])),
            ("is_enabled", json!(false)),
        ],
        nullable: &[],
        levels: [Viewer, Admin, Admin],
        needs_session: true,
        can_bulk_delete: false,
        has_name: false,
        ..tags(fixture)
    }
}

fn organizations(fixture: &Fixture) -> Kind {
    Kind {
        path: "/api/v1/organizations",
        entity: "Organization",
        body: None,
        changes: vec![("name", json!("another"))],
        nullable: &[],
        levels: [Viewer, Owner, Owner],
        needs_session: true,
        can_delete: false,
        can_bulk_delete: false,
        ..tags(fixture)
    }
}
