//! The OpenID Connect provider of a tenant: authorization code flow with PKCE, state and nonce.

use std::sync::Arc;
use std::time::{Duration, Instant};

use openidconnect::core::{
    CoreAuthDisplay, CoreAuthPrompt, CoreAuthenticationFlow, CoreErrorResponseType, CoreGenderClaim,
    CoreJsonWebKey, CoreJweContentEncryptionAlgorithm, CoreJwsSigningAlgorithm, CoreProviderMetadata,
    CoreRevocableToken, CoreRevocationErrorResponse, CoreTokenIntrospectionResponse, CoreTokenType,
};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, EmptyExtraTokenFields, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, IdTokenFields, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier,
    RedirectUrl, Scope, StandardErrorResponse, StandardTokenResponse, TokenResponse, reqwest, url,
};
use tokio::sync::Mutex;

use crate::LoginError;
use crate::caller::{Claims, GroupClaims};

/// The time for which the provider's endpoints and keys are used. Providers announce new keys before they use them.
const METADATA_LIFETIME: Duration = Duration::from_secs(10 * 60);

/// The time that one request to the provider may take.
const TIMEOUT: Duration = Duration::from_secs(10);

type Fields = IdTokenFields<
    GroupClaims,
    EmptyExtraTokenFields,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJwsSigningAlgorithm,
>;

/// The client of the crate, for ID tokens with [`GroupClaims`].
type Client = openidconnect::Client<
    GroupClaims,
    CoreAuthDisplay,
    CoreGenderClaim,
    CoreJweContentEncryptionAlgorithm,
    CoreJsonWebKey,
    CoreAuthPrompt,
    StandardErrorResponse<CoreErrorResponseType>,
    StandardTokenResponse<Fields, CoreTokenType>,
    CoreTokenIntrospectionResponse,
    CoreRevocableToken,
    CoreRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// The registration of the application at the provider.
#[derive(Clone, Debug)]
pub struct Registration {
    pub issuer: IssuerUrl,
    pub client_id: ClientId,
    pub client_secret: ClientSecret,
    /// Each provider has its own, so that no provider receives the codes of another.
    pub redirect: RedirectUrl,
}

/// A login that has begun in a browser. The browser stores it until the provider sends it back.
pub(crate) struct PendingLogin {
    pub(crate) state: String,
    pub(crate) nonce: String,
    pub(crate) verifier: String,
}

pub(crate) struct Provider {
    registration: Registration,
    http: reqwest::Client,
    discovered: Mutex<Option<(Instant, Arc<Client>)>>,
}

impl Provider {
    pub(crate) fn new(registration: Registration) -> Result<Self, reqwest::Error> {
        // Redirects could lead requests of the server into its own network.
        let http = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(TIMEOUT);
        Ok(Self { registration, http: http.build()?, discovered: Mutex::default() })
    }

    /// Returns the address to which the browser is sent, and the pending login that it stores meanwhile.
    pub(crate) async fn begin(&self) -> Result<(url::Url, PendingLogin), LoginError> {
        let client = self.client().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let request = client.authorize_url(flow, CsrfToken::new_random, Nonce::new_random);
        let groups = Scope::new("groups".to_owned());
        let (url, state, nonce) = request.add_scope(groups).set_pkce_challenge(challenge).url();
        let (state, verifier) = (state.into_secret(), verifier.into_secret());
        Ok((url, PendingLogin { state, nonce: nonce.secret().clone(), verifier }))
    }

    /// Exchanges the code for an ID token, and verifies it: signature, issuer, audience, expiry and nonce.
    pub(crate) async fn finish(&self, login: PendingLogin, code: String) -> Result<Claims, LoginError> {
        let client = self.client().await?;
        let exchange = client.exchange_code(AuthorizationCode::new(code)).map_err(LoginError::provider)?;
        let exchange = exchange.set_pkce_verifier(PkceCodeVerifier::new(login.verifier));
        let response = exchange.request_async(&self.http).await.map_err(LoginError::provider)?;
        let token = response.id_token().ok_or(LoginError::Refused)?;
        match token.claims(&client.id_token_verifier(), &Nonce::new(login.nonce)) {
            Ok(claims) => Ok(claims.clone()),
            Err(error) => {
                tracing::warn!("an ID token was refused: {error}");
                Err(LoginError::Refused)
            }
        }
    }

    /// Returns a client with the provider's present endpoints and keys.
    async fn client(&self) -> Result<Arc<Client>, LoginError> {
        // The lock is held while they are fetched: logins that begin together cause one request.
        let mut discovered = self.discovered.lock().await;
        if let Some((at, client)) = &*discovered
            && at.elapsed() < METADATA_LIFETIME
        {
            return Ok(client.clone());
        }
        let Registration { issuer, client_id, client_secret, redirect } = self.registration.clone();
        let metadata = CoreProviderMetadata::discover_async(issuer, &self.http);
        let metadata = metadata.await.map_err(LoginError::provider)?;
        let client = Client::from_provider_metadata(metadata, client_id, Some(client_secret));
        let client = Arc::new(client.set_redirect_uri(redirect));
        *discovered = Some((Instant::now(), client.clone()));
        Ok(client)
    }
}
