//! Shares: their creation, their passwords, and their public metadata.

use serde::Serialize;

use super::call::ClientCall;
use super::collection::item;
use super::{Client, ClientError, Collection, HttpService, Tagged};
use crate::model::{
    NetworkId, Redaction, Share, ShareId, ShareMetadata, ShareOptions, Timestamp, TopologyView,
};
use crate::wire::{NewShare, ShareToken};

impl<S: HttpService> Client<S> {
    /// Creates a share in the caller's organization; `organization_id` is ignored.
    ///
    /// # Errors
    /// `validation_required` without a network; `entity_access_denied`, `entity_reference_invalid`, `validation_…`.
    pub async fn create_share(&self, new: &NewShare) -> Result<Tagged<Share>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            name: &'a str,
            network_id: Option<NetworkId>,
            password: Option<&'a str>,
            options: ShareOptions,
            is_enabled: bool,
            expires_at: Option<Timestamp>,
            view: TopologyView,
            redact: &'a [Redaction],
        }
        // Every field is named, so that a new one cannot be forgotten here.
        let NewShare { network_id, name, password, options, is_enabled, expires_at, view, redact } = new;
        let body = Body {
            name,
            network_id: *network_id,
            password: password.as_deref(),
            options: *options,
            is_enabled: *is_enabled,
            expires_at: *expires_at,
            view: *view,
            redact,
        };
        self.tagged(ClientCall::post(Share::PATH).json(&body)?).await
    }

    /// Replaces a share and its password; `None` removes the password. [`update`](Self::update) keeps it.
    ///
    /// # Errors
    /// The errors of [`update`](Self::update).
    pub async fn update_share_password(
        &self,
        share: &Share,
        password: Option<&str>,
    ) -> Result<Tagged<Share>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            #[serde(flatten)]
            share: &'a Share,
            password: Option<&'a str>,
        }
        self.tagged(ClientCall::put(item::<Share>(share.id)).json(&Body { share, password })?).await
    }

    /// Returns the public metadata of a share. Needs no credential.
    ///
    /// # Errors
    /// `entity_not_found`.
    pub async fn share_metadata(&self, id: ShareId) -> Result<ShareMetadata, ClientError> {
        self.value(ClientCall::get(format!("{}/public/{id}", Share::PATH))).await
    }

    /// Exchanges the password of a share for a token, which takes its place. Needs no credential.
    ///
    /// # Errors
    /// `share_password_incorrect`; `auth_too_many_attempts` after too many failures; `entity_not_found`.
    pub async fn issue_share_token(&self, id: ShareId, password: &str) -> Result<ShareToken, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            password: &'a str,
        }
        self.value(ClientCall::post(format!("{}/public/{id}/verify", Share::PATH)).json(&Body { password })?)
            .await
    }
}
