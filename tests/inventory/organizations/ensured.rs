//! Organizations and users of the host application, which it creates on demand.

use toposcope::access::{Caller, Scope};
use toposcope::inventory::{
    Bootstrap, Entity, ErrorKind, NewOrganization, NewShare, NewUser, NewUserApiKey, Problem,
};
use toposcope::model::{Host, Network, NetworkId, OrganizationId, Permission, Subnet, Tag, User};

use crate::support::{
    Fixture, PASSWORD, already_exists, at_every_call, bare_host, concurrently, id, invalid, not_found,
    refusal,
};

const TENANT: OrganizationId = OrganizationId::from_u128(0x7e);

fn tenant() -> NewOrganization {
    NewOrganization::new("Tenant").id(TENANT)
}

fn external(organization: OrganizationId) -> NewUser {
    NewUser::external(organization, "host-user-42", Permission::Member)
}

#[tokio::test]
async fn organization_gets_the_given_id_unless_it_is_taken_or_nil() {
    let fixture = Fixture::new().await;
    let organizations = fixture.inventory.organizations();
    let created = organizations.create(tenant()).await.unwrap();
    assert_eq!((created.id, created.name.as_str()), (TENANT, "Tenant"));
    let taken = fixture.refusal(organizations.create(NewOrganization::new("Other").id(TENANT))).await;
    assert_eq!(taken, already_exists(Entity::Organization, &TENANT));
    for refused in [
        fixture.refusal(organizations.create(tenant().id(OrganizationId::nil()))).await,
        fixture.refusal(organizations.ensure(tenant().id(OrganizationId::nil()))).await,
    ] {
        assert_eq!(refused, invalid("id", Problem::InvalidFormat));
    }
    assert_eq!(organizations.get(TENANT).await.unwrap(), created);
}

#[tokio::test]
async fn ensured_organization_is_created_once_and_stays_as_it_is() {
    let fixture = Fixture::new().await;
    let organizations = fixture.inventory.organizations();
    let created = organizations.ensure(tenant()).await.unwrap();
    let disabled = organizations.disable_api_access(TENANT).await.unwrap();
    let commits = fixture.commits();
    assert_eq!(organizations.ensure(NewOrganization::new("Renamed").id(TENANT)).await.unwrap(), disabled);
    assert_eq!((disabled.name, fixture.commits()), (created.name, commits));
}

#[tokio::test]
async fn organization_ensured_by_its_name_is_that_of_the_bootstrap() {
    let fixture = Fixture::new().await;
    let organizations = fixture.inventory.organizations();
    let ensured = organizations.ensure(" By name ").await.unwrap();
    let bootstrap = Bootstrap::new("By name", "first@example.net");
    let start = fixture.inventory.bootstrap(bootstrap).await.unwrap();
    assert_eq!((start.organization, start.is_new), (ensured.clone(), false));
    assert_eq!(organizations.ensure("By name").await.unwrap(), ensured);
    assert_ne!(organizations.create("By name").await.unwrap().id, ensured.id);
}

#[tokio::test]
async fn organization_ensured_by_another_task_meanwhile_is_returned() {
    at_every_call(
        async |_| (),
        async |inventory, ()| inventory.organizations().ensure(tenant()).await.unwrap(),
        async |inventory, ()| inventory.organizations().ensure(NewOrganization::new("Late").id(TENANT)).await,
        async |fixture, (), ensured| {
            let ensured = ensured.unwrap();
            assert_eq!(ensured.name, "Tenant");
            assert_eq!(fixture.inventory.organizations().get(TENANT).await.unwrap(), ensured);
        },
    )
    .await;
}

#[tokio::test]
async fn user_ensured_by_another_task_meanwhile_is_returned_with_the_last_level_if_it_is_external() {
    let with_email: fn(OrganizationId) -> NewUser = |_| NewUser::new("a@example.net", Permission::Member);
    for (new, level) in [(external as fn(_) -> _, Permission::Owner), (with_email, Permission::Member)] {
        at_every_call(
            async |fixture| fixture.organization,
            async |inventory, organization| {
                inventory.users().ensure(&Caller::system(*organization), new(*organization)).await.unwrap()
            },
            async |inventory, organization| {
                let mut new = new(*organization);
                new.permissions = Permission::Owner;
                inventory.users().ensure(&Caller::system(*organization), new).await
            },
            async |fixture, _, ensured| {
                let ensured = ensured.unwrap();
                assert_eq!(ensured.permissions, level);
                assert_eq!(fixture.inventory.users().all(&fixture.system()).await.unwrap(), [ensured]);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn ensured_user_with_an_address_stays_as_it_is() {
    let fixture = Fixture::new().await;
    let (users, system) = (fixture.inventory.users(), fixture.system());
    let new = NewUser::new("a@example.net", Permission::Member);
    let created = users.ensure(&system, new.clone()).await.unwrap();
    let changed =
        users.set_rights(&system, created.id, Permission::Viewer, vec![fixture.network]).await.unwrap();
    let commits = fixture.commits();
    assert_eq!(users.ensure(&system, new).await.unwrap(), changed);
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn ensured_external_user_gets_the_present_level_and_keeps_everything_else() {
    let fixture = Fixture::new().await;
    let (users, system) = (fixture.inventory.users(), fixture.system());
    let created = users.ensure(&system, external(fixture.organization)).await.unwrap();
    users.set_rights(&system, created.id, Permission::Owner, vec![fixture.network]).await.unwrap();
    let disabled = users.disable(&system, created.id).await.unwrap();
    let lowered = users.ensure(&system, external(fixture.organization)).await.unwrap();
    // Even the last Owner, because the host application knows its users.
    assert_eq!(lowered.permissions, Permission::Member);
    assert_eq!(lowered.network_ids, [fixture.network]);
    assert!(!lowered.is_enabled);
    let expected = User { permissions: Permission::Member, updated_at: lowered.updated_at, ..disabled };
    assert_eq!(lowered, expected);
    let commits = fixture.commits();
    assert_eq!(users.ensure(&system, external(fixture.organization)).await.unwrap(), lowered);
    assert_eq!(fixture.commits(), commits);
}

#[tokio::test]
async fn user_deleted_while_its_level_is_set_is_created_again() {
    at_every_call(
        async |fixture| {
            let new = external(fixture.organization);
            fixture.inventory.users().ensure(&fixture.system(), new).await.unwrap()
        },
        async |inventory, user| {
            let system = Caller::system(user.organization_id);
            let _ = inventory.users().delete(&system, user.id).await;
        },
        async |inventory, user| {
            let mut new = external(user.organization_id);
            new.permissions = Permission::Admin;
            inventory.users().ensure(&Caller::system(user.organization_id), new).await
        },
        async |_, user, ensured| {
            let ensured = ensured.unwrap();
            assert_eq!((ensured.id, ensured.permissions), (user.id, Permission::Admin));
        },
    )
    .await;
}

#[tokio::test]
async fn external_user_ensured_many_times_at_once_is_one() {
    let fixture = Fixture::new().await;
    let ensured = concurrently(&fixture, 12, async |fixture, number| {
        let mut new = external(fixture.organization);
        new.permissions = [Permission::Viewer, Permission::Member, Permission::Admin][number as usize % 3];
        let user = fixture.inventory.users().ensure(&fixture.system(), new.clone()).await.unwrap();
        assert_eq!(user.permissions, new.permissions);
        user.id
    })
    .await;
    let users = fixture.inventory.users().all(&fixture.system()).await.unwrap();
    assert_eq!(users.len(), 1);
    assert!(ensured.iter().all(|id| *id == users[0].id));
}

#[tokio::test]
async fn external_user_is_found_without_being_created() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let users = fixture.inventory.users();
    let find = async |caller: Caller| users.find_external(&caller, "host-user-42").await;
    let commits = fixture.commits();
    assert_eq!(find(fixture.system()).await.unwrap(), None);
    assert_eq!(fixture.commits(), commits);
    let user = users.ensure(&fixture.system(), external(fixture.organization)).await.unwrap();
    assert_eq!(find(fixture.system()).await.unwrap(), Some(user.clone()));
    assert_eq!(find(foreign.system()).await.unwrap(), None, "the user of another organization");
    // Members see themselves only.
    let member = |id| Caller::new(fixture.organization, id, Permission::Member, Scope::all());
    assert_eq!(find(member(user.id)).await.unwrap(), Some(user));
    assert_eq!(find(member(id(77))).await.unwrap(), None);
    let invalid_id = fixture.refusal(users.find_external(&fixture.system(), "")).await;
    assert_eq!(invalid_id, invalid("external_id", Problem::Empty));
    assert_eq!(find(Caller::system(TENANT)).await.unwrap(), None);
}

const SITE: NetworkId = NetworkId::from_u128(0x517e);

#[tokio::test]
async fn ensured_network_is_created_once_and_stays_as_it_is() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let (networks, system) = (fixture.inventory.networks(), fixture.system());
    let created = networks.ensure(&system, SITE, Network::new("Site")).await.unwrap();
    assert_eq!((created.id, created.organization_id), (SITE, fixture.organization));
    let rename = |network: &mut Network| {
        network.name = "Renamed".to_owned();
        Ok(())
    };
    let renamed = networks.update(&system, SITE, rename).await.unwrap();
    let commits = fixture.commits();
    assert_eq!(networks.ensure(&system, SITE, Network::new("Site")).await.unwrap(), renamed);
    assert_eq!(fixture.commits(), commits);

    let theirs = fixture.refusal(networks.ensure(&foreign.system(), SITE, Network::new("Theirs"))).await;
    assert_eq!(theirs, already_exists(Entity::Network, &SITE));
    let same_name = fixture.refusal(networks.ensure(&system, id(0x518), Network::new("renamed"))).await;
    assert_eq!(same_name, already_exists(Entity::Network, "renamed"));
    let nil = fixture.refusal(networks.ensure(&system, NetworkId::nil(), Network::new("Nil"))).await;
    assert_eq!(nil, invalid("id", Problem::InvalidFormat));
    let owner = Caller::new(fixture.organization, id(1), Permission::Owner, Scope::all());
    let denied = fixture.refusal(networks.ensure(&owner, SITE, Network::new("Site"))).await;
    assert_eq!(denied, ErrorKind::PermissionDenied);
    let nowhere = Caller::system(TENANT);
    let unknown = networks.ensure(&nowhere, id(0x519), Network::new("Site"));
    assert_eq!(fixture.refusal(unknown).await, not_found(Entity::Organization, TENANT));
}

#[tokio::test]
async fn network_ensured_by_another_task_meanwhile_is_returned() {
    for name in ["Site", "Late"] {
        at_every_call(
            async |fixture| fixture.organization,
            async |inventory, organization| {
                let system = Caller::system(*organization);
                inventory.networks().ensure(&system, SITE, Network::new("Site")).await.unwrap()
            },
            async |inventory, organization| {
                let system = Caller::system(*organization);
                inventory.networks().ensure(&system, SITE, Network::new(name)).await
            },
            async |fixture, _, ensured| {
                let ensured = ensured.unwrap();
                assert_eq!(ensured.name, "Site");
                assert_eq!(fixture.inventory.networks().get(&fixture.system(), SITE).await.unwrap(), ensured);
            },
        )
        .await;
    }
}

#[tokio::test]
async fn user_is_ensured_by_the_system_alone_and_not_if_the_address_is_used_elsewhere() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let users = fixture.inventory.users();
    let owner = Caller::new(fixture.organization, id(1), Permission::Owner, Scope::all());
    let denied = fixture.refusal(users.ensure(&owner, external(fixture.organization))).await;
    assert_eq!(denied, ErrorKind::PermissionDenied);
    let new = NewUser::new("a@example.net", Permission::Viewer);
    users.ensure(&foreign.system(), new.clone()).await.unwrap();
    let taken = fixture.refusal(users.ensure(&fixture.system(), new)).await;
    assert_eq!(taken, already_exists(Entity::User, "a@example.net"));
    let unknown = fixture.refusal(users.ensure(&Caller::system(TENANT), external(TENANT))).await;
    assert_eq!(unknown, not_found(Entity::Organization, TENANT));
    // A host application that mixes its tenants up creates no user in either.
    let mixed = fixture.refusal(users.create(&fixture.system(), external(foreign.organization))).await;
    assert_eq!(mixed, not_found(Entity::Organization, foreign.organization));
}

#[tokio::test]
async fn external_id_is_unique_within_its_organization() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    let users = fixture.inventory.users();
    let own = users.create(&fixture.system(), external(fixture.organization)).await.unwrap();
    assert_eq!((own.email.as_str(), own.external_id.as_deref()), ("", Some("host-user-42")));
    let taken = fixture.refusal(users.create(&fixture.system(), external(fixture.organization))).await;
    assert_eq!(taken, already_exists(Entity::User, "host-user-42"));
    let theirs = users.create(&foreign.system(), external(foreign.organization)).await.unwrap();
    assert_ne!(own.id, theirs.id);
    let differing = NewUser::external(fixture.organization, "Host-user-42", Permission::Member);
    assert_ne!(users.create(&fixture.system(), differing).await.unwrap().id, own.id);
    users.delete(&fixture.system(), own.id).await.unwrap();
    let again = users.create(&fixture.system(), external(fixture.organization)).await.unwrap();
    assert_eq!(again.id, own.id);
}

#[tokio::test]
async fn external_id_without_text_or_with_what_does_not_show_is_refused() {
    let fixture = Fixture::new().await;
    for (text, problem) in [
        ("", Problem::Empty),
        (&"x".repeat(256), Problem::MaxLength { max: 255 }),
        (" a", Problem::InvalidFormat),
        ("a\n", Problem::InvalidFormat),
        ("a\0b", Problem::InvalidFormat),
    ] {
        let new = NewUser::external(fixture.organization, text, Permission::Viewer);
        let refused = fixture.refusal(fixture.inventory.users().create(&fixture.system(), new)).await;
        assert_eq!(refused, invalid("external_id", problem), "{text:?}");
    }
    let longest = NewUser::external(fixture.organization, "🦀".repeat(255), Permission::Viewer);
    fixture.inventory.users().create(&fixture.system(), longest).await.unwrap();
}

#[tokio::test]
async fn external_user_has_no_password_and_no_login_but_keys() {
    let fixture = Fixture::new().await;
    let (users, system) = (fixture.inventory.users(), fixture.system());
    let mut with_password = external(fixture.organization);
    with_password.password = Some(PASSWORD.to_owned());
    let no_password = invalid("password", Problem::Unsupported);
    assert_eq!(fixture.refusal(users.create(&system, with_password)).await, no_password);
    let user = users.create(&system, external(fixture.organization)).await.unwrap();
    let set = users.set_password(&system, user.id, Some(PASSWORD.to_owned()));
    assert_eq!(fixture.refusal(set).await, no_password);
    let caller = Caller::new(fixture.organization, user.id, user.permissions, Scope::only([]));
    let changed =
        users.change_own_password(&caller, PASSWORD.to_owned(), "another password".to_owned(), None);
    assert_eq!(fixture.refusal(changed).await, ErrorKind::PasswordIncorrect);
    for login in ["", "host-user-42"] {
        assert!(fixture.try_log_in(login).await.is_err(), "{login:?}");
    }
    let key = NewUserApiKey::new(user.id, "script", Permission::Viewer);
    let key = fixture.inventory.user_api_keys().create(&system, key).await.unwrap();
    assert_eq!(fixture.by_key(&key).await.unwrap().user_id(), user.id);
    fixture.until_used(key.record().id).await;
    // Upgrades of stored users leave it as it is.
    let before = fixture.contents().await.len();
    fixture.inventory.upgrade().await.unwrap();
    assert_eq!(fixture.inventory.upgrade().await.unwrap(), 0);
    assert_eq!(fixture.contents().await.len(), before + 1, "the form of what is stored");
}

/// Whatever the caller names, an organization that does not exist gets no records.
#[tokio::test]
async fn caller_of_an_unknown_organization_stores_nothing() {
    let fixture = Fixture::new().await;
    let inventory = &fixture.inventory;
    let missing = not_found(Entity::Organization, TENANT);
    let user = Caller::new(TENANT, id(1), Permission::Owner, Scope::all());
    for caller in [&user, &Caller::system(TENANT)] {
        let mut share = NewShare::new("share");
        share.network_id = Some(fixture.network);
        let refused = [
            fixture.refusal(inventory.tags().create(caller, Tag::new("tag"))).await,
            fixture.refusal(inventory.networks().create(caller, Network::new("network"))).await,
            fixture.refusal(inventory.users().create(caller, NewUser::new("a@b", Permission::Viewer))).await,
            fixture.refusal(inventory.shares().create(caller, share)).await,
        ];
        assert_eq!(refused, [(); 4].map(|()| missing.clone()));
        let subnet = Subnet::new(fixture.network, "subnet", "192.0.2.0/24".parse().unwrap());
        // Of what these refer to, nothing exists in the organization either.
        fixture.refusal(inventory.subnets().create(caller, subnet)).await;
        let host: Host = bare_host(id(1), fixture.network);
        fixture.refusal(inventory.hosts().put(caller, host)).await;
        fixture.refusal(inventory.organizations().get(TENANT)).await;
    }
    let referral = inventory.users().submit_referral(&user, "reddit", None);
    assert_eq!(fixture.refusal(referral).await, missing);
    assert_eq!(refusal(inventory.organizations().delete(TENANT).await), missing);
}
