use toposcope::model::Timestamp;
use uuid::Uuid;

use super::values::{Fields, name, needed, no_query};
use super::{Change, Outcome, Success, each_once};
use crate::isolation::ask::Ask;
use crate::isolation::records::{Caller, DaemonKey, Model, Uses};
use crate::isolation::refusal::{network_denied, out_of_range, reference_invalid};

/// The key without its id and its text.
pub(super) fn create(model: &Model, ask: &Ask, caller: &Caller) -> Outcome {
    no_query(ask)?;
    let fields = Fields::of(ask, &["name", "network_id", "tags", "expires_at", "is_enabled"])?;
    let text = needed(fields.text("name")?, "name")?;
    let network = needed(fields.id("network_id")?, "network_id")?;
    let tags = needed(fields.ids("tags")?, "tags")?;
    let expires_at = fields.time("expires_at")?;
    let is_enabled = fields.flag("is_enabled")?.unwrap_or(true);
    let name = name(&text, "name")?;
    if expires_at.is_some_and(|time| time <= model.now) {
        let first = model.now.plus_micros(1);
        return Err(out_of_range("expires_at", first.to_string(), Timestamp::MAX.to_string()));
    }

    if !model.is_own_network(caller, network) || !caller.reaches(network) {
        return Err(network_denied(network));
    }
    let own_tags = model.tags_of(caller.organization);
    if let Some(place) = tags.iter().position(|tag| !own_tags.contains(tag)) {
        return Err(reference_invalid("Tag", &format!("tags.{place}")));
    }
    let key = DaemonKey {
        id: Uuid::nil(),
        organization: caller.organization,
        network,
        name,
        tags: each_once(&tags),
        text: String::new(),
        expires_at,
        is_enabled,
        created_at: model.now,
        updated_at: model.now,
        uses: Uses::default(),
    };
    Ok((Success::Issued, Change::NewDaemonKey(Box::new(key))))
}
