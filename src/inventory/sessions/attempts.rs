//! Limits on failed attempts with passwords.
//!
//! With e-mail addresses that users of several organizations may have, failures are counted for each organization that
//! a login names. A login that names none counts as a failure for the address, and as one for each organization in
//! which a user has it; the latter is taken back if the password was that user's. A client that knows the password of
//! one user with the address, perhaps one that was created for this, thus gains no attempts at the passwords of the
//! others. The count at the address alone decides how a wrong password is refused, so that refusals do not reveal
//! which users exist.
//!
//! Logins that name the organization are counted apart from these, so that logins without it cannot lock them out.

use std::collections::BTreeMap;
use std::time::Duration;

use super::login::IssuedSession;
use crate::access::{ClientPrefix, LoginAttempts, Turn};
use crate::inventory::email::EmailAddress;
use crate::inventory::security_log::FailedLogin;
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::model::OrganizationId;

/// Waits for the turn of a client under a name.
///
/// # Errors
/// `Busy`.
async fn take_turn<'a>(
    attempts: &'a LoginAttempts,
    client: Option<ClientPrefix>,
    name: &str,
) -> Result<Turn<'a>, Error> {
    attempts.turn(client, name).await.ok_or_else(|| {
        attempts.counters.refused.increment();
        ErrorKind::Busy.into()
    })
}

impl Inventory {
    /// Makes an attempt with a password, unless too many have failed. A client makes only one at a time under this name.
    ///
    /// # Errors
    /// `TooManyAttempts`; `Busy`; those of the attempt, of which a wrong password counts as a failure.
    pub(in crate::inventory) async fn limit_attempts<T>(
        &self,
        attempts: &LoginAttempts,
        client: Option<ClientPrefix>,
        name: &str,
        attempt: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let _turn = take_turn(attempts, client, name).await?;
        let begun_at = self.monotonic();
        if let Err(retry_after) = attempts.begin(client, name, begun_at) {
            self.note_failure(attempts, client, name, begun_at, true);
            return Err(ErrorKind::TooManyAttempts { retry_after }.into());
        }
        let outcome = attempt.await;
        let is_failure = |error: &Error| {
            matches!(error.kind(), ErrorKind::InvalidCredentials | ErrorKind::SharePasswordIncorrect)
        };
        if outcome.as_ref().is_err_and(is_failure) {
            self.note_failure(attempts, client, name, begun_at, false);
        } else {
            attempts.take_back(client, name, begun_at);
        }
        outcome
    }

    /// Counts and logs an attempt with a wrong password, or one after too many failures.
    fn note_failure(
        &self,
        attempts: &LoginAttempts,
        client: Option<ClientPrefix>,
        name: &str,
        begun_at: Duration,
        is_locked_out: bool,
    ) {
        let counters = &attempts.counters;
        let counter = if is_locked_out { &counters.locked_out } else { &counters.failed };
        counter.increment();
        let failure = FailedLogin { account: attempts.log_digest(name), is_locked_out };
        self.state.security_log.note(client, &failure, begun_at);
    }

    /// Returns the name under which attempts with the password of one user are counted.
    pub(in crate::inventory) fn attempted_account(
        &self,
        address: &EmailAddress,
        organization: Option<OrganizationId>,
    ) -> String {
        match organization.filter(|_| self.shares_emails) {
            // The name ends with the domain, by which logins in progress are bounded.
            Some(organization) => format!("{organization} {}", address.comparable()),
            None => address.comparable(),
        }
    }

    /// Logs in the user with this address and this password, of any organization.
    ///
    /// No password is right in an organization for which too many attempts have failed. Passwords are verified all the
    /// same, so that the duration of a refusal does not reveal whether there is another one.
    pub(super) async fn log_in_to_any(
        &self,
        client: Option<ClientPrefix>,
        address: &EmailAddress,
        password: String,
    ) -> Result<IssuedSession, Error> {
        let (attempts, name) = (&self.attempts, address.comparable());
        let _turn = take_turn(attempts, client, &name).await?;
        let begun_at = self.monotonic();
        let at_address = format!("any {name}");
        let refused = attempts.begin(client, &at_address, begun_at).err();
        let mut open =
            OpenAttempt { attempts, client, name: &name, begun_at, organizations: BTreeMap::new() };
        let outcome = self.begin_session(address, password, None, Some(&mut open)).await;
        let is_wrong =
            matches!(&outcome, Err(error) if matches!(error.kind(), ErrorKind::InvalidCredentials));
        let is_choice =
            matches!(&outcome, Err(error) if matches!(error.kind(), ErrorKind::ChooseOrganization { .. }));
        // After any other error, it is unknown whose password it is, so that nothing counts as a failure.
        let is_undecided = outcome.is_err() && !is_wrong && !is_choice;
        open.take_back(|attempt| is_undecided || !is_wrong && *attempt == AttemptAt::Right);
        if is_undecided && refused.is_none() {
            attempts.take_back(client, &at_address, begun_at);
        }
        if !is_wrong {
            return outcome;
        }
        self.note_failure(attempts, client, &name, begun_at, refused.is_some());
        match refused {
            Some(retry_after) => Err(ErrorKind::TooManyAttempts { retry_after }.into()),
            None => outcome,
        }
    }
}

/// A login that names no organization, as it counts for each organization in which a user has the address.
pub(in crate::inventory) struct OpenAttempt<'a> {
    attempts: &'a LoginAttempts,
    client: Option<ClientPrefix>,
    name: &'a str,
    begun_at: Duration,
    organizations: BTreeMap<OrganizationId, AttemptAt>,
}

/// The outcome of a login for one of the organizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptAt {
    /// Refused after too many failures.
    Refused,
    /// Counted as a failure.
    Wrong,
    /// Counted as a failure, although the password is right.
    Right,
}

impl OpenAttempt<'_> {
    /// Counts the attempt for an organization, once. Returns whether the password may be right there.
    pub(super) fn begin(&mut self, organization: OrganizationId) -> bool {
        let name = self.name_for(organization);
        let attempt = self.organizations.entry(organization).or_insert_with(|| {
            match self.attempts.begin(self.client, &name, self.begun_at) {
                Ok(()) => AttemptAt::Wrong,
                Err(_) => AttemptAt::Refused,
            }
        });
        *attempt != AttemptAt::Refused
    }

    /// Sets the organizations in which the password is right, of those for which the attempt has begun.
    pub(super) fn set_right(&mut self, organizations: &[OrganizationId]) {
        for (organization, attempt) in &mut self.organizations {
            if *attempt != AttemptAt::Refused {
                let is_right = organizations.contains(organization);
                *attempt = if is_right { AttemptAt::Right } else { AttemptAt::Wrong };
            }
        }
    }

    /// Takes back the failures of the organizations that a condition selects.
    fn take_back(&self, is_no_failure: impl Fn(&AttemptAt) -> bool) {
        for (organization, attempt) in &self.organizations {
            if *attempt != AttemptAt::Refused && is_no_failure(attempt) {
                self.attempts.take_back(self.client, &self.name_for(*organization), self.begun_at);
            }
        }
    }

    /// The name ends with the domain, by which logins in progress are bounded.
    fn name_for(&self, organization: OrganizationId) -> String {
        format!("any {organization} {}", self.name)
    }
}
