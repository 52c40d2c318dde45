use serde_json::json;
use uuid::Uuid;

use super::values::{Fields, name, needed, path_id};
use super::{Change, Outcome, Success, each_once};
use crate::isolation::ask::Ask;
use crate::isolation::records::{Caller, Model, UserKey, rank};
use crate::isolation::refusal::{
    Refusal, network_denied, not_found, permission_denied, reference_invalid, refusal,
};

const FIELDS: [&str; 8] =
    ["name", "organization_id", "user_id", "tags", "expires_at", "is_enabled", "network_ids", "permissions"];

pub(super) fn update(model: &Model, ask: &Ask, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(ask, id)?;
    let fields = Fields::of(ask, &FIELDS)?;
    let text = needed(fields.text("name")?, "name")?;
    let organization = needed(fields.id("organization_id")?, "organization_id")?;
    let user = needed(fields.id("user_id")?, "user_id")?;
    let tags = needed(fields.ids("tags")?, "tags")?;
    let expires_at = fields.time("expires_at")?;
    let is_enabled = fields.flag("is_enabled")?;
    let networks = fields.ids("network_ids")?;
    let level = fields.level("permissions")?;
    let name = name(&text, "name")?;

    let mut key = own(model, caller, id)?;
    if organization != key.organization || user != key.user {
        return Err(refusal(403, "entity_update_forbidden", json!({"entity": "User API Key"})));
    }
    if level.is_some_and(|level| rank(level) > rank(caller.level)) {
        return Err(permission_denied());
    }
    let wanted = networks.clone().unwrap_or_default();
    if let Some(place) = wanted.iter().position(|network| !model.is_own_network(caller, *network)) {
        return Err(reference_invalid("Network", &format!("network_ids.{place}")));
    }
    if let Some(network) = wanted.iter().find(|network| !caller.reaches(**network)) {
        return Err(network_denied(*network));
    }
    let own_tags = model.tags_of(caller.organization);
    if let Some(place) = tags.iter().position(|tag| !own_tags.contains(tag)) {
        return Err(reference_invalid("Tag", &format!("tags.{place}")));
    }

    key.name = name;
    key.tags = each_once(&tags);
    if expires_at.is_some() || fields.is_null("expires_at") {
        key.expires_at = expires_at;
    }
    key.is_enabled = is_enabled.unwrap_or(key.is_enabled);
    key.networks = networks.map_or(key.networks, |networks| each_once(&networks));
    key.level = level.unwrap_or(key.level);
    key.updated_at = model.now;
    Ok((Success::Key(Box::new(key.clone())), Change::UserKey(Box::new(key))))
}

pub(super) fn delete(model: &Model, ask: &Ask, caller: &Caller, id: &str) -> Outcome {
    let id = path_id(ask, id)?;
    own(model, caller, id)?;
    Ok((Success::Data(json!({})), Change::NoUserKey(id)))
}

fn own(model: &Model, caller: &Caller, id: Uuid) -> Result<UserKey, Refusal> {
    let mut own = model
        .user_keys
        .iter()
        .filter(|key| key.organization == caller.organization && key.user == caller.user);
    own.find(|key| key.id == id).cloned().ok_or_else(|| not_found("User API Key", id))
}
