//! Sessions, the present user, and the creation of users.

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use serde::Serialize;
use serde::de::IgnoredAny;

use super::call::ClientCall;
use super::{Client, ClientError, Collection, Credential, HttpService, Tagged, secret_header};
use crate::model::{NetworkId, OrganizationId, Permission, User};
use crate::wire::NewUser;

/// The default name of the session cookie.
pub(super) const COOKIE_NAME: &str = "session_id";

#[derive(Serialize)]
struct Login<'a> {
    email: &'a str,
    password: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    organization_id: Option<OrganizationId>,
}

impl<S: HttpService> Client<S> {
    /// Begins a session, which replaces the credential of this client. Returns the user.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # async fn example<S: HttpService>(mut client: Client<S>) -> Result<(), ClientError> {
    /// let user = client.log_in("me@example.net", "correct horse battery").await?;
    /// assert_eq!(client.me().await?, user);
    /// client.log_out().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `auth_invalid_credentials`, `auth_too_many_attempts`; `auth_choose_organization` if the server has users of several
    /// organizations with this e-mail address and password.
    pub async fn log_in(&mut self, email: &str, password: &str) -> Result<User, ClientError> {
        self.begin_session(&Login { email, password, organization_id: None }).await
    }

    /// Begins a session of a user of this organization.
    ///
    /// It is needed after `auth_choose_organization`, whose params list the organizations.
    ///
    /// # Errors
    /// `auth_invalid_credentials`, `auth_too_many_attempts`.
    pub async fn log_in_to(
        &mut self,
        organization: OrganizationId,
        email: &str,
        password: &str,
    ) -> Result<User, ClientError> {
        self.begin_session(&Login { email, password, organization_id: Some(organization) }).await
    }

    async fn begin_session(&mut self, login: &Login<'_>) -> Result<User, ClientError> {
        let call = ClientCall::post("/api/auth/login").json(login)?;
        let (envelope, headers) = self.envelope(call).await?;
        self.credential = Credential::Session(session_cookie(&headers, &self.cookie_name)?);
        Ok(envelope.data)
    }

    /// Ends the session, and removes the credential from this client.
    ///
    /// # Errors
    /// None of its own. After any error, the credential stays.
    pub async fn log_out(&mut self) -> Result<(), ClientError> {
        self.value::<IgnoredAny>(ClientCall::post("/api/auth/logout")).await?;
        self.credential = Credential::None;
        Ok(())
    }

    /// Returns the user of the credential.
    ///
    /// # Errors
    /// `auth_not_authenticated`.
    pub async fn me(&self) -> Result<User, ClientError> {
        self.value(ClientCall::get("/api/auth/me")).await
    }

    /// Changes the user's password, and ends the user's other sessions. Requires a session.
    ///
    /// # Errors
    /// `auth_password_incorrect`, `auth_too_many_attempts`, `auth_user_context_required`, `validation_…`.
    pub async fn change_password(&self, current: &str, new: &str) -> Result<(), ClientError> {
        #[derive(Serialize)]
        struct Change<'a> {
            current_password: &'a str,
            new_password: &'a str,
        }
        let change = Change { current_password: current, new_password: new };
        let call = ClientCall::post("/api/auth/password").json(&change)?;
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }

    /// Creates a user in the caller's organization; `organization_id` is ignored. Requires a session.
    ///
    /// # Errors
    /// `auth_permission_denied`, `entity_already_exists`, `validation_…`.
    pub async fn create_user(&self, new: &NewUser) -> Result<Tagged<User>, ClientError> {
        #[derive(Serialize)]
        struct Body<'a> {
            email: &'a str,
            permissions: Permission,
            network_ids: &'a [NetworkId],
            #[serde(skip_serializing_if = "Option::is_none")]
            password: Option<&'a str>,
        }
        let NewUser { email, permissions, password, network_ids, .. } = new;
        let (permissions, password) = (*permissions, password.as_deref());
        self.tagged(ClientCall::post(User::PATH).json(&Body { email, permissions, network_ids, password })?)
            .await
    }

    /// Records where the user heard of the product. Requires a session.
    ///
    /// # Errors
    /// `auth_user_context_required`, `validation_…`.
    pub async fn submit_referral(&self, source: &str, details: Option<&str>) -> Result<(), ClientError> {
        #[derive(Serialize)]
        struct Referral<'a> {
            referral_source: &'a str,
            referral_source_other: Option<&'a str>,
        }
        let referral = Referral { referral_source: source, referral_source_other: details };
        let call = ClientCall::post("/api/v1/organizations/referral-source").json(&referral)?;
        self.value::<IgnoredAny>(call).await.map(|_| ())
    }
}

/// Returns the session cookie that a response sets, as a value of the `Cookie` header.
fn session_cookie(headers: &HeaderMap, own: &str) -> Result<HeaderValue, ClientError> {
    let cookies = headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
    let pairs = cookies.filter_map(|cookie| cookie.split(';').next());
    let session = pairs.map(str::trim).find(|pair| pair.split_once('=').is_some_and(|(name, _)| name == own));
    let session = session.ok_or_else(|| ClientError::unexpected("The response has no session cookie."))?;
    secret_header(session)
}
