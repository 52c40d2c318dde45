//! Export of one organization, and its restoration.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toposcope::access::Caller;
use toposcope::inventory::{ApplicationRecord, Entity, ErrorKind, Inventory, NewOrganization, NewUser};
use toposcope::model::{OrganizationId, Permission, Tag};
use toposcope::store::{
    Batch, Export, Facets, Key, Name, Precondition, Restore, Store, TransferError, TransferErrorKind,
    TransferReport,
};

use super::deletion::fill;
use crate::backend::run;
use crate::support::{
    Fault, Fixture, PASSWORD, already_exists, bare_host, id, not_found, owner_of, refusal, settle,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Rack {
    name: String,
    /// An organization of the application, which is not one of the inventory.
    organization_id: String,
}

impl ApplicationRecord for Rack {
    const KIND: Name = Name::new("x.rack");

    fn name(&self) -> &str {
        &self.name
    }
}

async fn export(inventory: &Inventory, organization: OrganizationId) -> Vec<u8> {
    let mut file = Vec::new();
    inventory.organizations().export(organization, Export::new(), &mut file).await.unwrap();
    file
}

async fn restore(inventory: &Inventory, file: &[u8]) -> Result<OrganizationId, TransferErrorKind> {
    let restored = inventory.organizations().restore(Restore::new(), file).await;
    restored.map(|organization| organization.id).map_err(|error: TransferError| error.kind())
}

/// A fixture whose organization no other fixture has: the ids of all follow from the same seed.
async fn source() -> Fixture {
    let mut fixture = Fixture::new().await;
    for _ in 0..2 {
        let foreign = fixture.foreign().await;
        (fixture.organization, fixture.network) = (foreign.organization, foreign.network);
    }
    fixture
}

/// A fixture with records of many kinds in the organization, and the export of it.
async fn filled() -> (Fixture, Vec<u8>) {
    let fixture = source().await;
    fill(&fixture).await;
    let racks = fixture.inventory.application_records::<Rack>();
    racks
        .create(
            &fixture.system(),
            Rack { name: "r1".to_owned(), organization_id: "leasing company".to_owned() },
        )
        .await
        .unwrap();
    let file = export(&fixture.inventory, fixture.organization).await;
    (fixture, file)
}

/// Returns the export with the checksum that its other lines have.
fn sealed(text: &str) -> Vec<u8> {
    let (lines, trailer) = text.trim_end().rsplit_once('\n').unwrap();
    let lines = format!("{lines}\n");
    let (records, _) = trailer.split_once("\"crc32\":").unwrap();
    format!("{lines}{records}\"crc32\":{}}}\n", crc32fast::hash(lines.as_bytes())).into_bytes()
}

/// Returns what an organization has in the store, without versions, which a restoration gives anew.
async fn contents_of(fixture: &Fixture, organization: OrganizationId) -> Vec<(Key, Facets, Vec<u8>)> {
    let contents = fixture.contents().await.into_iter();
    let own = contents.filter(|stored| stored.facets.organization == Some(organization.uuid()));
    own.map(|stored| (stored.record.key, stored.facets, stored.record.body.to_vec())).collect()
}

#[test]
fn restored_organization_has_the_same_records_beside_those_of_others() {
    run(async || {
        let (source, file) = filled().await;
        let (target, foreign) = Fixture::with_foreign().await;
        let others = [target.organization, foreign.organization];
        let mut before = Vec::new();
        for other in others {
            before.push(contents_of(&target, other).await);
        }
        assert_eq!(restore(&target.inventory, &file).await, Ok(source.organization));
        let mut expected = contents_of(&source, source.organization).await;
        // A session may have been ended since the export.
        expected.retain(|(key, ..)| key.kind != Name::new("session"));
        assert!(expected.len() >= 15, "{}", expected.len());
        assert_eq!(contents_of(&target, source.organization).await, expected);
        for (other, before) in others.into_iter().zip(before) {
            assert_eq!(contents_of(&target, other).await, before);
        }
        // It works: logins, hosts, records of the application, changes, and the deletion of everything.
        let session = target.inventory.log_in("owner@example.net", PASSWORD.to_owned()).await.unwrap();
        assert_eq!(session.user().organization_id, source.organization);
        settle().await;
        let system = Caller::system(source.organization);
        target.inventory.hosts().put(&system, bare_host(id(1), source.network)).await.unwrap();
        let racks =
            target.inventory.application_records::<Rack>().list(&system, &Default::default()).await.unwrap();
        assert_eq!(racks.records.len(), 1);
        target.inventory.organizations().delete(source.organization).await.unwrap();
        assert_eq!(target.mentioning(source.organization).await, []);
    });
}

/// Rights follow from the bodies of records.
#[tokio::test]
async fn user_of_another_organization_is_not_restored() {
    let (source, file) = filled().await;
    let (target, foreign) = Fixture::with_foreign().await;
    let text = String::from_utf8(file).unwrap();
    let (own, other) = (source.organization.to_string(), foreign.organization.to_string());
    let is_user = |line: &&str| line.contains("owner@example.net") && line.contains("permissions");
    let user = text.lines().find(is_user).unwrap();
    let at = user.find(&format!("\"organization_id\":\"{own}")).unwrap();
    let forged = format!("{}{}", &user[..at], user[at..].replacen(&own, &other, 1));
    let outcome = restore(&target.inventory, &sealed(&text.replace(user, &forged))).await;
    assert!(matches!(outcome, Err(TransferErrorKind::Malformed)), "{outcome:?}");
    assert_eq!(target.mentioning(source.organization).await, []);
}

#[tokio::test]
async fn export_has_nothing_of_other_organizations() {
    let (fixture, foreign) = Fixture::with_foreign().await;
    fill(&fixture).await;
    let theirs = NewUser::new("theirs@elsewhere.example", Permission::Owner);
    fixture.inventory.users().create(&foreign.system(), theirs).await.unwrap();
    let file = String::from_utf8(export(&fixture.inventory, fixture.organization).await).unwrap();
    for secret in
        [foreign.organization.to_string(), foreign.network.to_string(), "elsewhere.example".to_owned()]
    {
        assert!(!file.contains(&secret), "{secret}");
    }
    // One line each, and the first and the last. The history has lines of its own.
    let own = contents_of(&fixture, fixture.organization).await;
    let kinds = ["change", "network_links", "recorded_link", "pending_claims", "layout_moves"]
        .map(|kind| format!(r#"{{"kind":"{kind}"#));
    let lines = file.lines().filter(|line| !kinds.iter().any(|kind| line.starts_with(kind.as_str())));
    assert_eq!(lines.count(), own.len() + 2);
}

#[tokio::test]
async fn id_that_is_taken_is_refused_and_nothing_changes() {
    let (source, file) = filled().await;
    assert_eq!(restore(&source.inventory, &file).await, Err(TransferErrorKind::Taken));
    let target = Fixture::new().await;
    let new = NewOrganization::new("Other").id(source.organization);
    target.inventory.organizations().create(new).await.unwrap();
    target.inventory.upgrade().await.unwrap();
    let before = target.contents().await;
    assert_eq!(restore(&target.inventory, &file).await, Err(TransferErrorKind::Taken));
    assert_eq!(target.contents().await, before);
}

#[test]
fn email_address_of_another_organization_is_refused_and_nothing_stays() {
    run(async || {
        let (source, file) = filled().await;
        let target = Fixture::new().await;
        let owner = target.owner().await;
        assert_eq!(owner.email, "owner@example.net");
        target.inventory.upgrade().await.unwrap();
        let before = target.contents().await;
        assert_eq!(restore(&target.inventory, &file).await, Err(TransferErrorKind::Taken));
        assert_eq!(target.contents().await, before);
        target.inventory.users().delete(&target.system(), owner.id).await.unwrap();
        assert_eq!(restore(&target.inventory, &file).await, Ok(source.organization));
    });
}

/// Each call of the store fails in turn. The remaining records are invisible, and `delete` removes
/// them.
#[tokio::test]
async fn restoration_that_is_interrupted_anywhere_leaves_nothing_that_is_reachable() {
    let (source, file) = filled().await;
    let target = Fixture::new().await;
    target.inventory.upgrade().await.unwrap();
    let before = target.contents().await;
    let (inventory, probe) = target.probed();
    for failing in 0.. {
        probe.set(Fault::UnavailableAt(failing));
        let restored = restore(&inventory, &file).await;
        probe.set(Fault::None);
        if restored == Ok(source.organization) {
            assert!(failing > 3, "{failing}");
            break;
        }
        assert_eq!(restored, Err(TransferErrorKind::Store), "{failing}");
        let missing = not_found(Entity::Organization, source.organization);
        let tags =
            target.inventory.tags().create(&Caller::system(source.organization), Tag::new("tag")).await;
        assert_eq!(refusal(tags), missing, "{failing}");
        let login = target.try_log_in("owner@example.net").await;
        assert_eq!(refusal(login), ErrorKind::InvalidCredentials);
        settle().await;
        // The restoration could not remove its records if its last calls failed.
        if target.contents().await != before {
            assert_eq!(restore(&target.inventory, &file).await, Err(TransferErrorKind::Taken), "{failing}");
            target.inventory.organizations().delete(source.organization).await.unwrap();
            settle().await;
        }
        assert_eq!(target.contents().await, before, "{failing}");
    }
}

#[tokio::test]
async fn abandoned_restoration_is_deleted_by_the_purge_after_an_hour_and_a_present_one_is_not() {
    let (source, file) = filled().await;
    let target = Fixture::new().await;
    // The last line is missing, and the reader waits for it when the restoration is dropped.
    let (cut, _) = file.split_at(file.len() - 10);
    let (mut writer, reader) = tokio::io::duplex(file.len());
    tokio::io::AsyncWriteExt::write_all(&mut writer, cut).await.unwrap();
    let organizations = target.inventory.organizations();
    let mut restoration = Box::pin(organizations.restore(Restore::new(), reader));
    let waits = async {
        while target.mentioning(source.organization).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        ended = &mut restoration => panic!("{ended:?}"),
        () = waits => {}
    }
    let present = target.mentioning(source.organization).await;
    target.clock.advance(Duration::from_secs(3_599));
    target.inventory.purge_expired().await.unwrap();
    assert_eq!(target.mentioning(source.organization).await, present);
    let taken = already_exists(Entity::Organization, &source.organization);
    let new = || NewOrganization::new("Other").id(source.organization);
    assert_eq!(refusal(organizations.create(new()).await), taken);
    target.clock.advance(Duration::from_secs(1));
    target.inventory.purge_expired().await.unwrap();
    assert_eq!(target.mentioning(source.organization).await, []);
    // Meanwhile another restoration has the id; the first one must not add anything to it.
    assert_eq!(restore(&target.inventory, &file).await, Ok(source.organization));
    let complete = contents_of(&target, source.organization).await;
    tokio::io::AsyncWriteExt::write_all(&mut writer, &file[cut.len()..]).await.unwrap();
    drop(writer);
    assert_eq!(restoration.await.unwrap_err().kind(), TransferErrorKind::Taken);
    assert_eq!(contents_of(&target, source.organization).await, complete);
}

#[tokio::test]
async fn export_that_is_cut_or_altered_is_refused_and_nothing_stays() {
    let (source, file) = filled().await;
    let target = Fixture::new().await;
    target.inventory.upgrade().await.unwrap();
    let before = target.contents().await;
    let text = String::from_utf8(file.clone()).unwrap();
    let foreign = text.replace(
        &format!("\"organization\":\"{}\"", source.organization),
        &format!("\"organization\":\"{}\"", target.organization),
    );
    let of_the_store = {
        let mut file = Vec::new();
        Export::new().write(&*source.store, &mut file).await.unwrap();
        file
    };
    let header_of_another =
        foreign.replacen(&target.organization.to_string(), &OrganizationId::from_u128(7).to_string(), 1);
    let other_kind = text.replacen("{\"kind\":\"tag\"", "{\"kind\":\"revocation\"", 1);
    let other_form = text.replacen("\"form\":{\"form\":", "\"form\":{\"form\":9", 1);
    for (case, file, expected) in [
        ("cut", file[..file.len() - 10].to_vec(), TransferErrorKind::Truncated),
        ("altered", text.replacen("Elsewhere", "Elsewhen!", 1).into_bytes(), TransferErrorKind::Damaged),
        ("of another organization", sealed(&header_of_another), TransferErrorKind::Malformed),
        ("into another organization", sealed(&foreign), TransferErrorKind::Taken),
        ("of another kind", sealed(&other_kind), TransferErrorKind::Malformed),
        ("of another form", sealed(&other_form), TransferErrorKind::OtherForm),
        ("of a whole store", of_the_store, TransferErrorKind::WholeStore),
        ("no export", b"{}\n".to_vec(), TransferErrorKind::NotAnExport),
    ] {
        assert_eq!(restore(&target.inventory, &file).await, Err(expected), "{case}");
        assert_eq!(target.contents().await, before, "{case}");
    }
    assert_eq!(restore(&target.inventory, &file).await, Ok(source.organization));
}

#[tokio::test]
async fn organization_that_does_not_exist_cannot_be_exported() {
    let fixture = Fixture::new().await;
    let organizations = fixture.inventory.organizations();
    let missing = organizations.export(OrganizationId::from_u128(7), Export::new(), Vec::new()).await;
    assert_eq!(missing.unwrap_err().kind(), TransferErrorKind::NoOrganization);
}

/// More records than one commit takes, with progress.
#[test]
fn large_organization_is_restored_in_several_commits() {
    run(async || {
        let fixture = source().await;
        for number in 0..2_500_u32 {
            let mut batch = Batch::new();
            let key = Key::new(Name::new("referral"), uuid::Uuid::from_u128(u128::from(number)));
            let facets = Facets::default().with_organization(fixture.organization.uuid());
            batch.put(key, Precondition::Absent, facets, "{}");
            fixture.store.commit(batch).await.unwrap();
        }
        let file = export(&fixture.inventory, fixture.organization).await;
        let target = Fixture::new().await;
        let mut reports: Vec<TransferReport> = Vec::new();
        let progress = Restore::new().on_progress(|report| reports.push(*report));
        target.inventory.organizations().restore(progress, &file[..]).await.unwrap();
        assert!(reports.len() >= 3, "{reports:?}");
        let caller = owner_of(fixture.organization);
        assert!(target.inventory.tags().list(&caller, &Default::default()).await.unwrap().total == 1);
        assert_eq!(
            contents_of(&target, fixture.organization).await,
            contents_of(&fixture, fixture.organization).await
        );
    });
}
