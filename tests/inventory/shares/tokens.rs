//! Tokens that open a share in place of its password.

use std::net::IpAddr;
use std::time::Duration;

use toposcope::access::{ClientPrefix, PrefixLengths};
use toposcope::inventory::{Entity, Error, ErrorKind, PasswordChange, ShareToken};
use toposcope::model::ShareId;

use crate::backend::run_on_threads as run;
use crate::support::{Fixture, NOW, PASSWORD, id, not_found, owner_of, refusal, time};

const HOUR: Duration = Duration::from_secs(3600);

fn client(last: u8) -> Option<ClientPrefix> {
    Some(PrefixLengths::default().prefix_of(IpAddr::from([192, 0, 2, last])))
}

impl Fixture {
    async fn closed_share(&self) -> ShareId {
        self.share(|new| new.password = Some(PASSWORD.to_owned())).await.id
    }

    async fn token(&self, share: ShareId, password: &str, from: u8) -> Result<ShareToken, Error> {
        self.inventory.shares().issue_token(share, password.to_owned(), client(from)).await
    }

    async fn opens(&self, share: ShareId, token: &str) -> bool {
        self.inventory.shares().check_token(share, token).await.unwrap()
    }
}

#[test]
fn token_opens_its_share_for_twelve_hours() {
    run(async || {
        let fixture = Fixture::new().await;
        let (share, other) = (fixture.closed_share().await, fixture.closed_share().await);
        let before = fixture.contents().await;
        let issued = fixture.token(share, PASSWORD, 1).await.unwrap();
        assert_eq!(issued.expires_at, time("2026-08-15T00:00:00Z"));
        assert_eq!(fixture.contents().await, before, "nothing is stored for a token");
        assert!(fixture.opens(share, &issued.token).await);
        assert!(!fixture.opens(other, &issued.token).await);
        assert!(!format!("{issued:?}").contains(&issued.token));
        for (now, opens) in [
            ("2026-08-14T23:59:59.999999Z", true),
            ("2026-08-15T00:00:00Z", false),
            ("2030-01-01T00:00:00Z", false),
        ] {
            fixture.clock.set(time(now));
            assert_eq!(fixture.opens(share, &issued.token).await, opens, "{now}");
        }
    });
}

#[test]
fn altered_token_opens_nothing() {
    run(async || {
        let fixture = Fixture::new().await;
        let share = fixture.closed_share().await;
        let token = fixture.token(share, PASSWORD, 1).await.unwrap().token;
        for index in 0..token.len() {
            for letter in ["A", "B", "Q", "_", "=", ""] {
                let mut altered = token.clone();
                altered.replace_range(index..=index, letter);
                assert_eq!(fixture.opens(share, &altered).await, altered == token, "{altered}");
            }
        }
        let [doubled, longer] = [token.repeat(2), format!("{token}AAAA")];
        for bad in ["", "A", PASSWORD, &token[..11], &doubled, &longer, &" ".repeat(54)] {
            assert!(!fixture.opens(share, bad).await, "{bad}");
        }
    });
}

#[test]
fn new_password_ends_all_tokens_and_any_other_change_keeps_them() {
    run(async || {
        let fixture = Fixture::new().await;
        let (share, caller) = (fixture.closed_share().await, owner_of(fixture.organization));
        let token = fixture.token(share, PASSWORD, 1).await.unwrap().token;
        let change = async |password| {
            let rename = |share: &mut toposcope::model::Share| {
                share.name.push('!');
                Ok(())
            };
            fixture.inventory.shares().update_with_password(&caller, share, password, rename).await.unwrap();
        };
        change(PasswordChange::Keep).await;
        assert!(fixture.opens(share, &token).await);
        change(PasswordChange::Set(PASSWORD.to_owned())).await;
        assert!(!fixture.opens(share, &token).await, "even if it is the same password");
        change(PasswordChange::Clear).await;
        let open = fixture.token(share, "any password", 1).await.unwrap().token;
        for token in [&token, &open, "any token"] {
            assert!(fixture.opens(share, token).await, "no password is required");
        }
        change(PasswordChange::Set(PASSWORD.to_owned())).await;
        for token in [&token, &open] {
            assert!(!fixture.opens(share, token).await);
        }
    });
}

#[test]
fn closed_or_unknown_share_is_not_found_before_anything_else() {
    run(async || {
        let fixture = Fixture::new().await;
        let end = time("2026-08-14T13:00:00Z");
        let expiring = fixture.share(|new| {
            (new.password, new.expires_at) = (Some(PASSWORD.to_owned()), Some(end));
        });
        let (expiring, disabled) = (expiring.await.id, fixture.closed_share().await);
        let tokens = [
            fixture.token(expiring, PASSWORD, 1).await.unwrap().token,
            fixture.token(disabled, PASSWORD, 1).await.unwrap().token,
        ];
        fixture.inventory.shares().disable(&fixture.system(), disabled).await.unwrap();
        fixture.clock.set(end);
        for share in [expiring, disabled, id(3), fixture.organization.uuid().into()] {
            for password in [PASSWORD, "wrong password"].repeat(4) {
                let refused = refusal(fixture.token(share, password, 1).await);
                assert_eq!(refused, not_found(Entity::Share, share));
            }
            for token in &tokens {
                let refused = refusal(fixture.inventory.shares().check_token(share, token).await);
                assert_eq!(refused, not_found(Entity::Share, share));
            }
        }
        fixture.clock.set(time(NOW));
        fixture.inventory.shares().enable(&fixture.system(), disabled).await.unwrap();
        assert!(fixture.opens(disabled, &tokens[1]).await);
        fixture.token(disabled, PASSWORD, 1).await.unwrap();
    });
}

#[test]
fn five_wrong_passwords_lock_one_client_out_of_one_share() {
    run(async || {
        let fixture = Fixture::new().await;
        let (share, other) = (fixture.closed_share().await, fixture.closed_share().await);
        let owner = fixture.owner().await;
        for failure in 0..5 {
            // Correct passwords in between neither count nor forgive.
            fixture.token(share, PASSWORD, 1).await.unwrap();
            let wrong = ["wrong password", "", &"x".repeat(5000)][failure % 3].to_owned();
            let refused = refusal(fixture.token(share, &wrong, 1).await);
            assert_eq!(refused, ErrorKind::SharePasswordIncorrect);
            fixture.clock.advance(Duration::from_secs(60));
        }
        let locked_out = |retry_after| ErrorKind::TooManyAttempts { retry_after };
        for password in [PASSWORD, "wrong password"] {
            assert_eq!(refusal(fixture.token(share, password, 1).await), locked_out(600));
        }
        fixture.token(share, PASSWORD, 2).await.unwrap();
        fixture.token(other, PASSWORD, 1).await.unwrap();
        fixture.inventory.shares().issue_token(share, PASSWORD.to_owned(), None).await.unwrap();
        fixture.log_in(&owner).await;
        // The time of day does not matter.
        fixture.clock.set(time("2030-01-01T00:00:00Z"));
        assert_eq!(refusal(fixture.token(share, PASSWORD, 1).await), locked_out(600));
        fixture.clock.advance(Duration::from_secs(600));
        fixture.token(share, PASSWORD, 1).await.unwrap();
        fixture.clock.advance(HOUR);
        assert_eq!(
            refusal(fixture.token(share, "wrong password", 1).await),
            ErrorKind::SharePasswordIncorrect
        );
    });
}

#[test]
fn fifty_wrong_passwords_from_all_clients_lock_a_share_and_its_tokens_still_open_it() {
    run(async || {
        let fixture = Fixture::new().await;
        let (share, other) = (fixture.closed_share().await, fixture.closed_share().await);
        let token = fixture.token(share, PASSWORD, 200).await.unwrap().token;
        for client in 0..10 {
            for _ in 0..5 {
                let refused = refusal(fixture.token(share, "wrong password", client).await);
                assert_eq!(refused, ErrorKind::SharePasswordIncorrect);
            }
        }
        let refused = refusal(fixture.token(share, PASSWORD, 200).await);
        assert_eq!(refused, ErrorKind::TooManyAttempts { retry_after: 900 });
        assert!(fixture.opens(share, &token).await);
        fixture.token(other, PASSWORD, 1).await.unwrap();
    });
}
