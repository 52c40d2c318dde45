//! JSON Web Tokens (RFC 7519) of the application's users, signed with HMAC-SHA-256.

use std::sync::Arc;

use axum::http::{HeaderMap, header::AUTHORIZATION};
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use toposcope::access::{Caller, Clock, Scope};
use toposcope::model::{OrganizationId, Permission, Timestamp, User, UserId};

/// The header of all tokens: a token does not choose the algorithm by which it is verified.
const HEADER: &[u8] = br#"{"alg":"HS256","typ":"JWT"}"#;

const LIFETIME_SECONDS: i64 = 15 * 60;

#[derive(Deserialize, Serialize)]
struct Claims {
    sub: UserId,
    tenant: OrganizationId,
    level: Permission,
    /// When the token expires, in seconds since 1970.
    exp: i64,
}

#[derive(Clone)]
pub(crate) struct Tokens(Hmac<Sha256>, Arc<dyn Clock>);

impl Tokens {
    pub(crate) fn new(secret: [u8; 64], clock: Arc<dyn Clock>) -> Self {
        Self(Hmac::new(&secret.into()), clock)
    }

    pub(crate) fn issue(&self, user: &User) -> Result<String, serde_json::Error> {
        let (tenant, level) = (user.organization_id, user.permissions);
        let claims = Claims { sub: user.id, tenant, level, exp: self.now() + LIFETIME_SECONDS };
        let payload = serde_json::to_vec(&claims)?;
        let signed = [HEADER, &payload].map(Base64UrlUnpadded::encode_string).join(".");
        let signature = self.0.clone().chain_update(&signed).finalize().into_bytes();
        Ok(format!("{signed}.{}", Base64UrlUnpadded::encode_string(&signature)))
    }

    /// Returns the caller of a request whose token is signed with this key. The API refuses it once it has expired.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Option<Caller> {
        let token = headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
        let decode = |text| Base64UrlUnpadded::decode_vec(text).ok();
        let (signed, signature) = token.rsplit_once('.')?;
        // Takes the same time wherever the signature is wrong.
        self.0.clone().chain_update(signed).verify_slice(&decode(signature)?).ok()?;
        let (header, payload) = signed.split_once('.')?;
        let claims: Claims = serde_json::from_slice(&decode(payload)?).ok()?;
        let expires_at = Timestamp::from_unix_micros(claims.exp.checked_mul(1_000_000)?).ok()?;
        // Users reach all networks of their tenants.
        let caller = Caller::new(claims.tenant, claims.sub, claims.level, Scope::all());
        (decode(header)? == HEADER).then(|| caller.valid_until(expires_at))
    }

    fn now(&self) -> i64 {
        self.1.now().unix_micros() / 1_000_000
    }
}
