//! Endpoints of users, API keys and shares that the generic ones do not cover. They create these records and handle
//! their secrets.

use serde::Serialize;

use super::collections::{Template, check_precondition, check_time, check_values};
use crate::inventory::{
    Error, Inventory, IssuedKey, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey, PasswordChange, Problem,
};
use crate::model::{DaemonApiKey, Share, UserApiKey};
use crate::service::input::{Fields, read_id, read_no_query};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Pending};
use crate::service::state::ApiState;

/// `GET` and `POST /api/auth/me`.
pub(in crate::service) fn me(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        read_no_query(&call.input)?;
        let state = call.state;
        let caller = call.into_caller()?;
        state.responder.value(&state.inventory.users().get(&caller, caller.user_id()).await?)
    })
}

/// `POST /api/auth/password`. Ends the user's other sessions.
pub(in crate::service) fn change_password(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let (current, new) = (fields.required("current_password")?, fields.required("new_password")?);
        let (credentials, request) = (&call.state.credentials, call.input.request);
        let kept = credentials.session(request).await.ok().map(|(_, session)| session);
        call.state.inventory.users().change_own_password(&caller, current, new, kept).await?;
        call.state.responder.empty()
    })
}

/// `POST /api/v1/users`.
pub(in crate::service) fn create_user(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let email: String = fields.required("email")?;
        let mut new = NewUser::new(email, fields.required("permissions")?);
        new.network_ids = fields.required("network_ids")?;
        new.password = fields.optional("password")?;
        let user = call.state.inventory.users().create(&caller, new).await?;
        let tag = EntityTag::of_record(&user)?;
        call.state.responder.record(&user, tag)?.with_location(call.route, user.id)
    })
}

/// A key with its plaintext. No other response contains the plaintext.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Issued{K}"))]
pub(in crate::service) struct Issued<K> {
    pub(in crate::service) api_key: K,
    pub(in crate::service) key: String,
}

trait ApiKeyRecord: Clone {
    fn with_plaintext(self, plaintext: String) -> Self;
}

impl ApiKeyRecord for UserApiKey {
    fn with_plaintext(self, key: String) -> Self {
        Self { key, ..self }
    }
}

impl ApiKeyRecord for DaemonApiKey {
    fn with_plaintext(self, key: String) -> Self {
        Self { key, ..self }
    }
}

fn issued<K: ApiKeyRecord + Serialize>(state: &ApiState, issued: &IssuedKey<K>) -> Result<Outcome, ApiError> {
    let key = issued.plaintext().to_owned();
    state.responder.value(&Issued { api_key: issued.record().clone().with_plaintext(key.clone()), key })
}

/// `POST /api/v1/auth/keys`.
pub(in crate::service) fn create_user_key(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let name: String = fields.required("name")?;
        let mut new = NewUserApiKey::new(caller.user_id(), name, fields.required("permissions")?);
        new.all_networks = fields.optional("all_networks")?.unwrap_or_default();
        new.network_ids = match fields.optional("network_ids")? {
            None if !new.all_networks => return Err(Error::invalid("network_ids", Problem::Required).into()),
            network_ids => network_ids.unwrap_or_default(),
        };
        new.tags = fields.optional("tags")?.unwrap_or_default();
        new.expires_at = fields.optional("expires_at")?;
        new.is_enabled = fields.optional("is_enabled")?.unwrap_or(new.is_enabled);
        let key = call.state.inventory.user_api_keys().create(&caller, new).await?;
        issued(call.state, &key)?.with_location(call.route, key.record().id)
    })
}

/// `POST /api/v1/auth/keys/{id}/rotate`.
pub(in crate::service) fn rotate_user_key(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let state = call.state;
        issued(state, &state.inventory.user_api_keys().rotate(&call.into_caller()?, id).await?)
    })
}

/// `POST /api/v1/auth/daemon`.
pub(in crate::service) fn create_daemon_key(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        let name: String = fields.required("name")?;
        let mut new = NewDaemonApiKey::new(fields.required("network_id")?, name);
        new.tags = fields.required("tags")?;
        new.expires_at = fields.optional("expires_at")?;
        new.is_enabled = fields.optional("is_enabled")?.unwrap_or(new.is_enabled);
        let key = call.state.inventory.daemon_api_keys().create(&caller, new).await?;
        issued(call.state, &key)?.with_location(call.route, key.record().id)
    })
}

/// `POST /api/v1/auth/daemon/{id}/rotate`.
pub(in crate::service) fn rotate_daemon_key(call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let state = call.state;
        issued(state, &state.inventory.daemon_api_keys().rotate(&call.into_caller()?, id).await?)
    })
}

/// `POST /api/v1/shares`.
pub(in crate::service) fn create_share(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        check_values::<Share>(&fields)?;
        let new = read_share(&fields)?;
        let sender = &caller;
        let create = |inventory: Inventory| async move { inventory.shares().create(sender, new).await };
        let respond = |share: &Share| {
            let outcome = call.state.responder.record(share, EntityTag::of_record(share)?)?;
            outcome.with_location(call.route, share.id)
        };
        call.repeatable().once(&caller, &body, create, respond).await
    })
}

fn read_share(fields: &Fields<'_>) -> Result<NewShare, Error> {
    let name: String = fields.required("name")?;
    let mut new = NewShare::new(name);
    new.network_id = Some(fields.required("network_id")?);
    new.password = fields.optional("password")?;
    new.options = fields.optional("options")?.unwrap_or(new.options);
    new.is_enabled = fields.optional("is_enabled")?.unwrap_or(new.is_enabled);
    new.expires_at = fields.optional("expires_at")?;
    new.view = fields.optional("view")?.unwrap_or(new.view);
    new.redact = fields.optional("redact")?.unwrap_or(new.redact);
    Ok(new)
}

/// `PUT` and `PATCH /api/v1/shares/{id}`.
pub(in crate::service) fn update_share(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        let (body, caller) = call.read().await?;
        let fields = Fields::read(&body, call.route.body)?;
        check_values::<Share>(&fields)?;
        let password = match fields.nullable::<String>("password")? {
            None => PasswordChange::Keep,
            Some(None) => PasswordChange::Clear,
            Some(Some(password)) => PasswordChange::Set(password),
        };
        let (request, room) = (call.input.request, call.input.room);
        let change = |share: &mut Share| {
            check_precondition(request, share)?;
            check_time(&fields, share)?;
            fields.apply(share, &Share::template())?;
            room.answer().reserve_record(share)
        };
        let share = call.state.inventory.shares().update_with_password(&caller, id, password, change).await?;
        let tag = EntityTag::of_record(&share)?;
        call.state.responder.record(&share, tag)
    })
}

/// `POST /api/v1/shares/public/{id}/verify`.
pub(in crate::service) fn verify_share(mut call: Call<'_>) -> Pending<'_> {
    Box::pin(async move {
        let id = read_id(&call.path)?;
        read_no_query(&call.input)?;
        let state = call.state;
        let client = state.client_prefixes.of(call.input.request);
        let body = call.input.json().await?;
        let password: String = Fields::read(&body, call.route.body)?.required("password")?;
        state.responder.value(&state.inventory.shares().issue_token(id, password, client).await?)
    })
}
