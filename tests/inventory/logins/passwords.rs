//! Users who change their own passwords.

use std::time::Duration;

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Entity, Error, ErrorKind, NewUser, Problem};
use toposcope::model::{Permission, User};

use crate::backend::run_on_threads as run;
use crate::support::{
    Fixture, PASSWORD, at_every_call, id, in_person, invalid, not_found, refusal, through_a_key, uuid,
};

const NEW: &str = "battery staple";

impl Fixture {
    async fn change_password(
        &self,
        user: &User,
        current: &str,
        new: &str,
        kept: Option<&str>,
    ) -> Result<(), Error> {
        let (current, new) = (current.to_owned(), new.to_owned());
        self.inventory.users().change_own_password(&in_person(user), current, new, kept).await
    }
}

#[test]
fn password_is_set_by_e_mail_address_and_ends_all_sessions() {
    run(async || {
        let fixture = Fixture::new().await;
        let user = fixture.user("Ä.Σ@example.net", Permission::Viewer, &[]).await;
        let session = fixture.log_in(&user).await;
        let set = |email: &str, new: &str| {
            let (inventory, email, new) = (fixture.inventory.clone(), email.to_owned(), new.to_owned());
            async move { inventory.users().set_password_of(&email, new).await }
        };
        let unknown = refusal(set("nobody@example.net", NEW).await);
        let field = "email".to_owned();
        assert_eq!(unknown, ErrorKind::ReferenceInvalid { entity: Entity::User, field });
        let short = refusal(set(&user.email, "short").await);
        assert!(matches!(short, ErrorKind::Invalid { .. }), "{short:?}");
        fixture.by_session(&session).await.unwrap();
        assert_eq!(set(" ä.ς@EXAMPLE.net ", NEW).await.unwrap().id, user.id);
        assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
        fixture.inventory.log_in(&user.email, NEW.to_owned()).await.unwrap();
    });
}

#[test]
fn change_of_password_ends_the_other_sessions_of_the_user() {
    run(async || {
        let fixture = Fixture::new().await;
        let user = fixture.user("Ä.Σ@example.net", Permission::Viewer, &[]).await;
        let other = fixture.owner().await;
        let kept = fixture.log_in(&user).await;
        let ended = fixture.log_in(&user).await;
        let others = fixture.log_in(&other).await;
        let key = fixture.user_key(&user, |_| {}).await;
        fixture.change_password(&user, PASSWORD, NEW, Some(kept.plaintext())).await.unwrap();
        assert_eq!(fixture.by_session(&kept).await.unwrap().user_id(), user.id);
        assert_eq!(refusal(fixture.by_session(&ended).await), ErrorKind::NotAuthenticated);
        fixture.by_session(&others).await.unwrap();
        fixture.by_key(&key).await.unwrap();
        assert_eq!(refusal(fixture.try_log_in(&user.email).await), ErrorKind::InvalidCredentials);
        fixture.inventory.log_in(&user.email, NEW.to_owned()).await.unwrap();
        // Only a session of the user is kept.
        for (current, new, session) in
            [(NEW, PASSWORD, Some(others.plaintext())), (PASSWORD, NEW, Some("no session")), (NEW, NEW, None)]
        {
            fixture.change_password(&user, current, new, session).await.unwrap();
            assert_eq!(fixture.sessions_of(user.id).await, 0);
            fixture.inventory.log_in(&user.email, new.to_owned()).await.unwrap();
        }
        fixture.by_session(&others).await.unwrap();
        fixture.inventory.log_out(others.plaintext()).await.unwrap();
        assert_eq!(fixture.sessions_of(other.id).await, 0);
    });
}

#[test]
fn kept_session_ends_at_its_time_and_by_logout() {
    run(async || {
        let (fixture, owner) = Fixture::with_owner().await;
        for logs_out in [true, false] {
            let session = fixture.log_in(&owner).await;
            fixture.change_password(&owner, PASSWORD, PASSWORD, Some(session.plaintext())).await.unwrap();
            if logs_out {
                fixture.inventory.log_out(session.plaintext()).await.unwrap();
            } else {
                fixture.clock.set(session.session().expires_at);
                assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::SessionExpired);
                assert_eq!(fixture.inventory.purge_expired().await.unwrap(), 1);
            }
            assert_eq!(refusal(fixture.by_session(&session).await), ErrorKind::NotAuthenticated);
        }
    });
}

#[test]
fn invalid_change_of_password_is_refused() {
    run(async || {
        let (fixture, foreign) = Fixture::with_foreign().await;
        let owner = fixture.owner().await;
        fixture.log_in(&owner).await;
        let without_password = NewUser::new("none@example.net", Permission::Viewer);
        let without_password =
            fixture.inventory.users().create(&fixture.system(), without_password).await.unwrap();
        for (new, problem) in [
            ("ü".repeat(9), Problem::MinLength { min: 10 }),
            ("ü".repeat(1001), Problem::MaxLength { max: 1000 }),
        ] {
            let attempt = fixture.change_password(&owner, PASSWORD, &new, None);
            assert_eq!(fixture.refusal(attempt).await, invalid("new_password", problem));
        }
        for (user, current) in
            [(&owner, "Correct horse"), (&owner, ""), (&without_password, PASSWORD), (&without_password, "")]
        {
            let attempt = fixture.change_password(user, current, NEW, None);
            assert_eq!(fixture.refusal(attempt).await, ErrorKind::PasswordIncorrect);
        }
        let too_long = "c".repeat(5000);
        let attempt = fixture.change_password(&owner, &too_long, NEW, None);
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::PasswordIncorrect);
        let caller = |organization, user| Caller::new(organization, user, Permission::Owner, Scope::all());
        for (caller, expected) in [
            (through_a_key(&owner), ErrorKind::SessionRequired),
            (caller(fixture.organization, id(3)), not_found(Entity::User, uuid(3))),
            (caller(foreign.organization, owner.id), not_found(Entity::User, owner.id)),
        ] {
            let (current, new) = (PASSWORD.to_owned(), NEW.to_owned());
            let attempt = fixture.inventory.users().change_own_password(&caller, current, new, None);
            assert_eq!(fixture.refusal(attempt).await, expected);
        }
    });
}

#[test]
fn wrong_current_passwords_count_as_failed_logins() {
    run(async || {
        let (fixture, owner) = Fixture::with_owner().await;
        for attempt in 0..5 {
            let (refused, expected) = if attempt % 2 == 0 {
                let changed = fixture.change_password(&owner, "wrong password", NEW, None).await;
                (refusal(changed), ErrorKind::PasswordIncorrect)
            } else {
                let session = fixture.inventory.log_in(&owner.email, "wrong password".to_owned()).await;
                (refusal(session), ErrorKind::InvalidCredentials)
            };
            assert_eq!(refused, expected);
        }
        let locked_out = ErrorKind::TooManyAttempts { retry_after: 900 };
        assert_eq!(refusal(fixture.change_password(&owner, PASSWORD, NEW, None).await), locked_out);
        assert_eq!(refusal(fixture.try_log_in(&owner.email).await), locked_out);
        fixture.clock.advance(Duration::from_secs(900));
        fixture.change_password(&owner, PASSWORD, NEW, None).await.unwrap();
    });
}

#[test]
fn password_or_session_that_changes_meanwhile_is_noticed() {
    run(async || {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, owner| {
                inventory
                    .users()
                    .set_password(
                        &Caller::system(owner.organization_id),
                        owner.id,
                        Some("a third password".to_owned()),
                    )
                    .await
                    .unwrap();
            },
            async |inventory, owner| {
                let (current, new) = (PASSWORD.to_owned(), NEW.to_owned());
                inventory.users().change_own_password(&in_person(owner), current, new, None).await
            },
            async |_, _, result| assert_eq!(refusal(result), ErrorKind::PasswordIncorrect),
        )
        .await;
        at_every_call(
            async |fixture: &Fixture| {
                let owner = fixture.owner().await;
                let session = fixture.log_in(&owner).await;
                (owner, session)
            },
            async |inventory, (owner, session)| {
                inventory.log_out(session.plaintext()).await.unwrap();
                inventory.log_in(&owner.email, PASSWORD.to_owned()).await.unwrap();
            },
            async |inventory, (owner, session)| {
                let (current, new) = (PASSWORD.to_owned(), NEW.to_owned());
                let kept = Some(session.plaintext());
                inventory.users().change_own_password(&in_person(owner), current, new, kept).await
            },
            async |fixture, (owner, _), result| {
                result.unwrap();
                assert_eq!(fixture.sessions_of(owner.id).await, 0);
            },
        )
        .await;
    });
}
