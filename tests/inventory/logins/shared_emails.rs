//! E-mail addresses that users of several organizations have.

use std::time::Duration;

use toposcope::access::{Caller, LoginLimits};
use toposcope::inventory::{Bootstrap, Entity, ErrorKind, Inventory, NewUser};
use toposcope::model::{OrganizationId, Permission, User};
use toposcope::store::{Export, Key, Name, Restore, TransferErrorKind, UniqueKey};

use crate::backend::run;
use crate::support::{Fixture, PASSWORD, Probe, already_exists, concurrently, refusal};

const ANN: &str = "ann@example.net";

/// Users who are created one after the other log in in this order.
const MOMENT: Duration = Duration::from_millis(1);

/// A fixture whose inventory shares addresses, with eight further organizations.
async fn shared() -> (Fixture, Vec<OrganizationId>) {
    let mut fixture = Fixture::new().await;
    fixture.inventory = fixture.inventory.with_shared_emails();
    let mut organizations = Vec::new();
    for number in 0..8 {
        let organization =
            fixture.inventory.organizations().create(format!("Tenant {number}")).await.unwrap();
        organizations.push(organization.id);
    }
    (fixture, organizations)
}

async fn create(
    inventory: &Inventory,
    organization: OrganizationId,
    password: &str,
) -> Result<User, toposcope::inventory::Error> {
    let mut new = NewUser::new(ANN, Permission::Admin);
    new.password = Some(password.to_owned());
    inventory.users().create(&Caller::system(organization), new).await
}

/// Logs in, and returns the organization of the session.
async fn log_in(inventory: &Inventory, password: &str) -> Result<OrganizationId, ErrorKind> {
    let session = inventory.log_in(ANN, password.to_owned()).await;
    session.map(|session| session.user().organization_id).map_err(|error| error.kind().clone())
}

async fn log_in_to(inventory: &Inventory, organization: OrganizationId) -> Result<User, ErrorKind> {
    let session = inventory.log_in_to(None, Some(organization), ANN, PASSWORD.to_owned()).await;
    session.map(|session| session.user().clone()).map_err(|error| error.kind().clone())
}

/// Returns the organizations that a login has to choose from.
fn choices(outcome: Result<OrganizationId, ErrorKind>) -> Vec<OrganizationId> {
    match outcome {
        Err(ErrorKind::ChooseOrganization { organizations }) => {
            organizations.iter().map(|organization| organization.id).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn password_decides_in_which_organization_a_login_is() {
    let (mut fixture, organizations) = shared().await;
    // Logins that name no organization count as failures in the others.
    fixture.inventory =
        fixture.inventory.with_login_limits(LoginLimits::default().failures(100, Duration::from_secs(60)));
    for (number, organization) in organizations.iter().enumerate() {
        create(&fixture.inventory, *organization, &format!("password of {number}")).await.unwrap();
    }
    for (number, organization) in organizations.iter().enumerate() {
        let session = log_in(&fixture.inventory, &format!("password of {number}")).await;
        assert_eq!(session, Ok(*organization));
    }
    assert_eq!(log_in(&fixture.inventory, PASSWORD).await, Err(ErrorKind::InvalidCredentials));
}

/// An Admin can create a user with the address of a user of another organization, and knows that password.
#[tokio::test]
async fn right_password_of_one_user_gives_no_attempts_at_those_of_others() {
    let (fixture, organizations) = shared().await;
    let inventory = &fixture.inventory;
    let [victims, evil, ..] = organizations[..] else { panic!() };
    create(inventory, victims, PASSWORD).await.unwrap();
    let own = create(inventory, evil, "another one").await.unwrap();
    for number in 0..20 {
        let guess = format!("guess number {number}");
        inventory.users().set_password(&Caller::system(evil), own.id, Some(guess.clone())).await.unwrap();
        assert_eq!(log_in(inventory, &guess).await, Ok(evil));
    }
    inventory.users().set_password(&Caller::system(evil), own.id, Some(PASSWORD.to_owned())).await.unwrap();
    assert_eq!(log_in(inventory, PASSWORD).await, Ok(evil));

    let refused = log_in(inventory, "wrong for everybody").await;
    assert!(matches!(refused, Err(ErrorKind::TooManyAttempts { .. })), "{refused:?}");
    assert_eq!(log_in_to(inventory, victims).await.unwrap().organization_id, victims);
}

#[tokio::test]
async fn failures_with_one_organization_lock_out_nobody_of_another() {
    let (fixture, organizations) = shared().await;
    let inventory = &fixture.inventory;
    let [one, other, without, ..] = organizations[..] else { panic!() };
    for organization in [one, other] {
        create(inventory, organization, "right password").await.unwrap();
    }
    // Also with one in which no user has the address: it must not differ.
    for organization in [one, without] {
        for _ in 0..5 {
            assert_eq!(log_in_to(inventory, organization).await, Err(ErrorKind::InvalidCredentials));
        }
        let refused = log_in_to(inventory, organization).await;
        assert!(matches!(refused, Err(ErrorKind::TooManyAttempts { .. })), "{refused:?}");
    }
    let session = inventory.log_in_to(None, Some(other), ANN, "right password".to_owned()).await.unwrap();
    assert_eq!(session.user().organization_id, other);
}

#[test]
fn login_chooses_among_the_organizations_whose_password_is_right() {
    run(async || {
        let (fixture, organizations) = shared().await;
        let inventory = &fixture.inventory;
        let mut users = Vec::new();
        for organization in &organizations[..4] {
            users.push(create(inventory, *organization, PASSWORD).await.unwrap());
            fixture.clock.advance(MOMENT);
        }
        create(inventory, organizations[4], "another password").await.unwrap();
        let system = Caller::system(organizations[3]);
        inventory.users().disable(&system, users[3].id).await.unwrap();
        assert_eq!(choices(log_in(inventory, PASSWORD).await), organizations[..3]);
        for user in &users[..3] {
            assert_eq!(log_in_to(inventory, user.organization_id).await.as_ref(), Ok(user));
        }
        for other in &organizations[3..] {
            // Fewer failures than lock the address.
            fixture.clock.advance(Duration::from_secs(20 * 60));
            assert_eq!(log_in_to(inventory, *other).await, Err(ErrorKind::InvalidCredentials));
        }
        inventory.organizations().delete(organizations[0]).await.unwrap();
        assert_eq!(choices(log_in(inventory, PASSWORD).await), organizations[1..3]);
        inventory.organizations().delete(organizations[1]).await.unwrap();
        assert_eq!(log_in(inventory, PASSWORD).await, Ok(organizations[2]));
    });
}

#[tokio::test]
async fn choice_is_no_failed_login() {
    let (fixture, organizations) = shared().await;
    for organization in &organizations[..2] {
        create(&fixture.inventory, *organization, PASSWORD).await.unwrap();
    }
    for _ in 0..10 {
        choices(log_in(&fixture.inventory, PASSWORD).await);
    }
    assert!(log_in_to(&fixture.inventory, organizations[0]).await.is_ok());
}

/// A ninth user is created like any other: a refusal would reveal to its organization that eight others
/// exist.
#[test]
fn ninth_user_logs_in_by_naming_its_organization() {
    run(async || {
        let (fixture, organizations) = shared().await;
        let inventory = &fixture.inventory;
        let mut users = Vec::new();
        for organization in &organizations {
            users.push(create(inventory, *organization, PASSWORD).await.unwrap());
            fixture.clock.advance(MOMENT);
        }
        let ninth = create(inventory, fixture.organization, "password of the ninth").await.unwrap();
        assert_eq!(log_in(inventory, "password of the ninth").await, Err(ErrorKind::InvalidCredentials));
        let named =
            inventory.log_in_to(None, Some(fixture.organization), ANN, "password of the ninth".into());
        assert_eq!(*named.await.unwrap().user(), ninth);
        let taken = already_exists(Entity::User, ANN);
        assert_eq!(fixture.refusal(create(inventory, fixture.organization, PASSWORD)).await, taken);

        let third = &users[2];
        inventory.users().delete(&Caller::system(third.organization_id), third.id).await.unwrap();
        assert_eq!(log_in(inventory, "password of the ninth").await, Ok(fixture.organization));
        for user in users.iter().filter(|user| user.id != third.id) {
            assert_eq!(log_in_to(inventory, user.organization_id).await.as_ref(), Ok(user));
        }
        inventory.organizations().delete(organizations[7]).await.unwrap();
        create(inventory, organizations[2], "another password").await.unwrap();
        assert_eq!(log_in(inventory, "another password").await, Ok(organizations[2]));
    });
}

#[test]
fn nothing_stored_of_a_user_depends_on_users_of_other_organizations() {
    run(async || {
        let (fixture, organizations) = shared().await;
        let mut stored = Vec::new();
        for organization in &organizations {
            let user = create(&fixture.inventory, *organization, PASSWORD).await.unwrap();
            assert_eq!(user.id.uuid().get_version_num(), 7);
            let key = Key::new(Name::new("user"), user.id.uuid());
            let contents = fixture.contents().await;
            let mut facets = contents.into_iter().find(|stored| stored.record.key == key).unwrap().facets;
            // The only difference is the organization itself, a digest of which is in the unique key.
            facets.organization = None;
            assert_eq!(facets.unique_keys.len(), 1);
            facets.unique_keys.clear();
            stored.push(facets);
        }
        stored.dedup();
        assert_eq!(stored.len(), 1, "{stored:?}");
    });
}

#[test]
fn organization_is_restored_beside_others_with_the_same_addresses() {
    run(async || {
        let (fixture, organizations) = shared().await;
        let inventory = &fixture.inventory;
        for organization in &organizations[..2] {
            create(inventory, *organization, &format!("password of {organization}")).await.unwrap();
            fixture.clock.advance(MOMENT);
        }
        let mut file = Vec::new();
        inventory.organizations().export(organizations[1], Export::new(), &mut file).await.unwrap();
        inventory.organizations().delete(organizations[1]).await.unwrap();
        for organization in &organizations[2..] {
            create(inventory, *organization, PASSWORD).await.unwrap();
        }
        create(inventory, fixture.organization, PASSWORD).await.unwrap();
        inventory.organizations().restore(Restore::new(), &file[..]).await.unwrap();
        for organization in &organizations[..2] {
            let session = log_in(inventory, &format!("password of {organization}")).await;
            assert_eq!(session, Ok(*organization));
        }
        // A store whose users do not share addresses has one user with the address.
        let other = Fixture::new().await;
        create(&other.inventory, other.organization, PASSWORD).await.unwrap();
        let refused = other.inventory.organizations().restore(Restore::new(), &file[..]).await;
        assert_eq!(refused.unwrap_err().kind(), TransferErrorKind::Taken);
    });
}

/// Otherwise, a client that locks an address out would learn that an organization has got a user with it.
#[tokio::test]
async fn refusal_after_too_many_failures_is_the_same_when_users_are_created_and_deleted() {
    let (fixture, organizations) = shared().await;
    fixture.user("other@example.net", Permission::Viewer, &[]).await;
    let inventory = &fixture.inventory;
    for _ in 0..5 {
        assert_eq!(log_in(inventory, "wrong password").await, Err(ErrorKind::InvalidCredentials));
    }
    let refused = async || {
        let before = inventory.figures().logins.hashes.waits.count();
        let refused = log_in(inventory, "wrong password").await;
        (refused, inventory.figures().logins.hashes.waits.count() - before)
    };
    let before = refused().await;
    assert!(matches!(before, (Err(ErrorKind::TooManyAttempts { .. }), 8)), "{before:?}");
    let users = [
        create(inventory, organizations[0], PASSWORD).await.unwrap(),
        create(inventory, organizations[1], PASSWORD).await.unwrap(),
    ];
    assert_eq!(refused().await, before);
    inventory.users().delete(&Caller::system(organizations[0]), users[0].id).await.unwrap();
    assert_eq!(refused().await, before);
}

#[test]
fn address_stays_unique_within_its_organization() {
    run(async || {
        let (fixture, organizations) = shared().await;
        let inventory = &fixture.inventory;
        // Three attempts for each organization at once, of which one succeeds.
        let tenants = organizations.clone();
        let outcomes = concurrently(&fixture, 24, move |fixture, number| {
            let organization = tenants[usize::try_from(number).unwrap() / 3];
            async move {
                let created = create(&fixture.inventory, organization, PASSWORD).await;
                created.map(drop).map_err(|error| error.kind().clone())
            }
        })
        .await;
        for (number, outcomes) in outcomes.chunks(3).enumerate() {
            assert_eq!(
                outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
                1,
                "{number}: {outcomes:?}"
            );
            let taken = already_exists(Entity::User, ANN);
            assert!(outcomes.iter().flat_map(|outcome| outcome.as_ref().err()).all(|error| *error == taken));
        }
        assert_eq!(choices(log_in(inventory, PASSWORD).await).len(), 8);
    });
}

#[tokio::test]
async fn failed_login_takes_the_same_work_for_any_number_of_users() {
    let (fixture, organizations) = shared().await;
    let other = fixture.user("other@example.net", Permission::Viewer, &[]).await;
    let (inventory, probe) = fixture.probed();
    let inventory = inventory.with_shared_emails();
    let mut work = Vec::new();
    for users in 0..=8 {
        if users > 0 {
            create(&fixture.inventory, organizations[users - 1], PASSWORD).await.unwrap();
        }
        work.push(work_of_failed_login(&fixture, &inventory, &probe, None).await);
    }
    work.dedup();
    let [(calls, reads, hashes)] = work.as_slice() else { panic!("{work:?}") };
    assert_eq!((calls.len(), *reads, *hashes), (25, 16, 8));
    // To one organization, with and without a user who has the address: the same calls, and one hash.
    for organization in [organizations[0], other.organization_id, OrganizationId::nil()] {
        let (calls, reads, hashes) =
            work_of_failed_login(&fixture, &inventory, &probe, Some(organization)).await;
        let both = ["get_by_unique_key user_email", "get_by_unique_key email"];
        assert_eq!(calls, [&both[..], &["get user password", "get password"]].concat());
        assert_eq!((reads, hashes), (2, 1));
    }
}

/// Returns the calls of the store, the number of bodies read, and the number of hashes verified.
async fn work_of_failed_login(
    fixture: &Fixture,
    inventory: &Inventory,
    probe: &Probe,
    organization: Option<OrganizationId>,
) -> (Vec<String>, usize, u64) {
    // Fewer failures than lock the address.
    fixture.clock.advance(Duration::from_secs(20 * 60));
    probe.take_passed();
    let hashes = inventory.figures().logins.hashes.waits.count();
    let refused = inventory.log_in_to(None, organization, ANN, "wrong password".to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    // The choice of decoys, which varies over time, depends on the time alone.
    let made: Vec<_> = probe.take_passed().into_iter().filter(|call| call.name != "list password").collect();
    // A store reads the bodies of one call together.
    assert!(made.iter().all(|call| call.bodies <= 1), "{made:?}");
    let reads = made.iter().map(|call| call.bodies).sum();
    let hashes = inventory.figures().logins.hashes.waits.count() - hashes;
    (made.into_iter().map(|call| call.name).collect(), reads, hashes)
}

#[tokio::test]
async fn store_opened_without_the_option_keeps_all_users_and_lets_the_first_log_in() {
    let (fixture, organizations) = shared().await;
    let first = create(&fixture.inventory, organizations[0], PASSWORD).await.unwrap();
    fixture.clock.advance(MOMENT);
    let second = create(&fixture.inventory, organizations[1], PASSWORD).await.unwrap();
    let session =
        fixture.inventory.log_in_to(None, Some(organizations[1]), ANN, PASSWORD.to_owned()).await.unwrap();
    let without = fixture.second_inventory();
    assert_eq!(log_in(&without, PASSWORD).await, Ok(organizations[0]));
    assert_eq!(log_in_to(&without, organizations[1]).await.as_ref(), Ok(&second));
    assert!(without.authenticate_session(session.plaintext()).await.is_ok());
    let taken = already_exists(Entity::User, ANN);
    for organization in [organizations[1], organizations[2]] {
        assert_eq!(fixture.refusal(create(&without, organization, PASSWORD)).await, taken);
    }
    // When the first user is deleted, the address belongs to the second one.
    let system = Caller::system(organizations[1]);
    without.users().set_rights(&system, second.id, Permission::Member, Vec::new()).await.unwrap();
    without.users().delete(&Caller::system(organizations[0]), first.id).await.unwrap();
    assert_eq!(without.upgrade().await.unwrap(), 0);
    assert_eq!(log_in(&without, PASSWORD).await, Ok(organizations[1]));
    for organization in [organizations[1], organizations[2]] {
        assert_eq!(fixture.refusal(create(&without, organization, PASSWORD)).await, taken);
    }
    without.users().delete(&system, second.id).await.unwrap();
    create(&without, organizations[2], PASSWORD).await.unwrap();
    assert_eq!(log_in(&without, PASSWORD).await, Ok(organizations[2]));
}

#[tokio::test]
async fn user_of_an_earlier_version_logs_in_and_keeps_the_address_through_the_upgrade() {
    let (fixture, organizations) = shared().await;
    let user = create(&fixture.inventory, organizations[0], PASSWORD).await.unwrap();
    let key = Key::new(Name::new("user"), user.id.uuid());
    let complete = fixture.contents().await.into_iter().find(|stored| stored.record.key == key).unwrap();
    let mut facets = complete.facets.clone();
    facets.unique_keys = vec![UniqueKey::new(Name::new("email"), ANN)];
    facets.links.retain(|link| link.relation.as_str() != "email");
    fixture.overwrite(complete.record.key, facets, complete.record.body.to_vec()).await;
    let new = NewUser::new(ANN, Permission::Viewer);
    assert_eq!(log_in(&fixture.inventory, PASSWORD).await, Ok(organizations[0]));
    assert_eq!(log_in_to(&fixture.inventory, organizations[0]).await.as_ref(), Ok(&user));
    assert_eq!(log_in_to(&fixture.inventory, organizations[1]).await, Err(ErrorKind::InvalidCredentials));
    let ensured = fixture.inventory.users().ensure(&Caller::system(organizations[0]), new).await.unwrap();
    assert_eq!(ensured, user);
    let taken = already_exists(Entity::User, ANN);
    assert_eq!(fixture.refusal(create(&fixture.inventory, organizations[0], PASSWORD)).await, taken);
    let without = fixture.second_inventory();
    assert_eq!(fixture.refusal(create(&without, organizations[1], PASSWORD)).await, taken);
    assert_eq!(fixture.inventory.upgrade().await.unwrap(), 1);
    assert_eq!(log_in(&fixture.inventory, PASSWORD).await, Ok(organizations[0]));
    let upgraded =
        fixture.contents().await.into_iter().find(|stored| stored.record.key == complete.record.key);
    assert_eq!(upgraded.unwrap().facets, complete.facets);
    assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
}

#[tokio::test]
async fn ensured_users_and_owners_share_an_address() {
    let (fixture, organizations) = shared().await;
    let mut ids = Vec::new();
    for organization in &organizations[..2] {
        for _ in 0..2 {
            let new = NewUser::new(ANN, Permission::Viewer);
            ids.push(fixture.inventory.users().ensure(&Caller::system(*organization), new).await.unwrap().id);
        }
    }
    assert!(ids[0] == ids[1] && ids[2] == ids[3] && ids[1] != ids[2], "{ids:?}");
    for name in ["First", "Second"] {
        let started = fixture.inventory.bootstrap(Bootstrap::new(name, ANN)).await.unwrap();
        let again = fixture.inventory.bootstrap(Bootstrap::new(name, ANN)).await.unwrap();
        assert_eq!((started.owner.id, again.is_new), (again.owner.id, false));
    }
    let without = fixture.second_inventory();
    assert_eq!(
        refusal(without.bootstrap(Bootstrap::new("Third", ANN)).await),
        already_exists(Entity::User, ANN)
    );
}

#[tokio::test]
async fn users_of_one_address_have_passwords_of_their_own() {
    let (fixture, organizations) = shared().await;
    let inventory = &fixture.inventory;
    let mut users = Vec::new();
    for organization in &organizations[..2] {
        users.push(create(inventory, *organization, PASSWORD).await.unwrap());
    }
    let session = inventory.log_in_to(None, Some(organizations[1]), ANN, PASSWORD.to_owned()).await.unwrap();
    let caller = inventory.authenticate_session(session.plaintext()).await.unwrap();
    let change =
        inventory.users().change_own_password(&caller, PASSWORD.to_owned(), "new password".to_owned(), None);
    change.await.unwrap();
    assert_eq!(log_in(inventory, PASSWORD).await, Ok(organizations[0]));
    assert_eq!(log_in(inventory, "new password").await, Ok(organizations[1]));
    let set = inventory.users().set_password_of(ANN, "third password".to_owned()).await;
    assert!(
        matches!(refusal(set), ErrorKind::ChooseOrganization { organizations } if organizations.len() == 2)
    );
    inventory.users().delete(&Caller::system(organizations[0]), users[0].id).await.unwrap();
    let set = inventory.users().set_password_of(ANN, "third password".to_owned()).await.unwrap();
    assert_eq!(set.id, users[1].id);
}
