//! Attempts with passwords, of which too many must not fail.
//!
//! With e-mail addresses that users of several organizations may have, failures are counted for each organization that a login
//! names, and for each place of the address otherwise. A client that
//! knows the password of one user with the address, perhaps one that was created for this, thus gains no attempts at the
//! passwords of the others. The counts depend on what clients send alone: they do not tell which users exist.

use std::time::Duration;

use super::login::IssuedSession;
use crate::access::{ClientPrefix, LoginAttempts, Turn};
use crate::inventory::email::EmailAddress;
use crate::inventory::security_log::FailedLogin;
use crate::inventory::shared_emails::EmailPlace;
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

    /// Logs in whichever user has the address and the password.
    ///
    /// At a place at which too many attempts have failed, no password is right.
    pub(super) async fn log_in_to_any(
        &self,
        client: Option<ClientPrefix>,
        address: &EmailAddress,
        password: String,
    ) -> Result<IssuedSession, Error> {
        let (attempts, name) = (&self.attempts, address.comparable());
        let _turn = take_turn(attempts, client, &name).await?;
        let begun_at = self.monotonic();
        let (mut open, mut locked, mut retry_after) = (Vec::new(), Vec::new(), 0);
        for place in self.email_places() {
            match attempts.begin(client, &place.attempted(&name), begun_at) {
                Ok(()) => open.push(place),
                Err(seconds) => {
                    locked.push(place);
                    retry_after = seconds.max(retry_after);
                }
            }
        }
        if !locked.is_empty() {
            self.note_failure(attempts, client, &name, begun_at, true);
        }
        let too_many = || Err(ErrorKind::TooManyAttempts { retry_after }.into());
        if open.is_empty() {
            return too_many();
        }
        let mut matching = Vec::new();
        let outcome = self.begin_session(address, password, None, &locked, &mut matching).await;
        let is_wrong = |error: &Error| matches!(error.kind(), ErrorKind::InvalidCredentials);
        let is_choice = |error: &Error| matches!(error.kind(), ErrorKind::ChooseOrganization { .. });
        let has_failed = |place: &EmailPlace| match &outcome {
            Err(error) if is_wrong(error) => true,
            // It is not known whose password it is.
            Err(error) if !is_choice(error) => false,
            _ => !matching.contains(place),
        };
        for place in open.iter().filter(|place| !has_failed(place)) {
            attempts.take_back(client, &place.attempted(&name), begun_at);
        }
        if !outcome.as_ref().is_err_and(is_wrong) {
            return outcome;
        }
        if !locked.is_empty() {
            return too_many();
        }
        self.note_failure(attempts, client, &name, begun_at, false);
        outcome
    }
}
