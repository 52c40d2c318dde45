use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;
use uuid::Uuid;

use super::{Selection, decode, encode};
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::Span;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, NetworkId, OrganizationId, Timestamp, UserId};

/// The version of the record, which also applies to commits without a version of their own.
const VERSION: u64 = 77;

const ORGANIZATION: OrganizationId = OrganizationId::from_u128(1);

fn text(random: &mut Rng, longest: usize) -> String {
    (0..random.usize(..=longest)).map(|_| random.char(..)).collect()
}

fn actor(random: &mut Rng) -> ChangeActor {
    match random.u8(..3) {
        0 => ChangeActor::System,
        1 => ChangeActor::Application { name: text(random, 9) },
        _ => {
            let id = UserId::from_u128(random.u128(..3));
            ChangeActor::User { id, email: Some(text(random, 5)), key_id: None }
        }
    }
}

fn place(random: &mut Rng) -> Place {
    let (version, commit) = (random.u64(..) >> random.u8(..64), random.u64(..));
    Place { era: random.u32(..), version, number: random.u32(..) >> random.u8(..32), commit }
}

fn entry(random: &mut Rng, number: u32) -> ChangeEntry {
    ChangeEntry {
        number,
        action: *random.choice(ChangeAction::ALL).unwrap(),
        entity: *random.choice(ChangedEntity::ALL).unwrap(),
        id: Uuid::from_u128(random.u128(..4)),
        name: text(random, 12),
        content: Bytes::from(text(random, 200)),
        cause: random.bool().then(|| place(random)),
        is_erased: random.bool(),
    }
}

/// Returns commits in any order, with at least one entry each.
fn commits(random: &mut Rng, readers: (OrganizationId, Audience, Class)) -> Vec<CommitChanges> {
    let (organization_id, audience, class) = readers;
    let mut commit = || CommitChanges {
        organization_id,
        era: random.u32(..) >> random.u8(..32),
        version: random.bool().then(|| random.u64(..) >> random.u8(..64)),
        commit: random.u64(..),
        count: random.u32(..) >> random.u8(..32),
        at: Timestamp::UNIX_EPOCH.plus_micros(random.i64(-1_000_000_000..1_000_000_000_000_000)),
        actor: Arc::new(actor(random)),
        audience,
        class,
        request_id: random.bool().then(|| text(random, 20)),
        entries: (0..random.u32(1..5)).map(|number| entry(random, number * 3)).collect(),
    };
    (0..5).map(|_| commit()).collect()
}

fn readers(random: &mut Rng) -> (OrganizationId, Audience, Class) {
    let audience = match random.u8(..4) {
        0 => Audience::Everyone,
        1 => Audience::Admins,
        2 => Audience::User(UserId::from_u128(random.u128(..))),
        _ => Audience::Network(NetworkId::from_u128(random.u128(..))),
    };
    (ORGANIZATION, audience, *random.choice(Class::ALL.as_slice()).unwrap())
}

fn selection(random: &mut Rng, commits: &[CommitChanges]) -> Selection {
    let mut place = || -> Option<Place> {
        let commit = random.choice(commits).filter(|_| random.bool())?;
        let known = CommitChanges { version: commit.version.or(Some(VERSION)), ..commit.clone() };
        random.choice(known.places().collect::<Vec<_>>())
    };
    let span = Span { after: place(), until: place() };
    Selection { id: random.bool().then(|| Uuid::from_u128(random.u128(..4))), span }
}

/// Returns the entries that a reader must find, by looking at each entry.
fn expected(commits: &[CommitChanges], selection: &Selection, is_run: bool) -> Vec<CommitChanges> {
    let selected = commits.iter().map(|commit| {
        let mut commit = CommitChanges { version: commit.version.or(Some(VERSION)), ..commit.clone() };
        let entries = std::mem::take(&mut commit.entries);
        let has = |entry: &ChangeEntry| {
            selection.id.is_none_or(|id| id == entry.id)
                && selection.span.contains(commit.place(entry.number))
        };
        let entries = entries.into_iter().filter(has).collect();
        CommitChanges { entries, ..commit }
    });
    selected.filter(|commit| !is_run || !commit.entries.is_empty()).collect()
}

#[test]
fn frame_gives_back_the_selected_entries_of_its_commits() {
    let mut random = Rng::with_seed(5);
    for round in 0..200 {
        let readers = readers(&mut random);
        let commits = commits(&mut random, readers);
        let end = random.bool().then(|| commits[0].place(random.u32(..)));
        let body = encode(readers, end, &commits).unwrap();
        for selection in [Selection::ALL, selection(&mut random, &commits), selection(&mut random, &commits)]
        {
            let frame = decode(&body, VERSION, &selection).unwrap();
            assert_eq!((frame.organization_id, frame.audience, frame.class), readers);
            assert_eq!(frame.end, end);
            let expected = expected(&commits, &selection, end.is_some());
            assert_eq!(frame.commits, expected, "round {round}, {selection:?}");
        }
    }
}

#[test]
fn frame_that_is_cut_or_followed_by_others_is_damaged() {
    let mut random = Rng::with_seed(6);
    for _ in 0..5 {
        let readers = readers(&mut random);
        let commits = commits(&mut random, readers);
        let body = encode(readers, Some(Place::BEGINNING), &commits).unwrap();
        for length in 0..body.len() {
            assert!(decode(&body.slice(..length), VERSION, &Selection::ALL).is_none(), "{length}");
        }
        let longer = Bytes::from([&body[..], b"x"].concat());
        assert!(decode(&longer, VERSION, &Selection::ALL).is_none());
    }
}

#[test]
fn frame_with_any_other_bytes_is_read_without_a_panic() {
    let mut random = Rng::with_seed(7);
    for _ in 0..5 {
        let readers = readers(&mut random);
        let commits = commits(&mut random, readers);
        let body = encode(readers, Some(Place::BEGINNING), &commits).unwrap();
        for place in 0..body.len() {
            let mut other = body.to_vec();
            other[place] = random.u8(..);
            let selection = selection(&mut random, &commits);
            let _ = decode(&Bytes::from(other), VERSION, &selection);
        }
        let noise: Vec<u8> = [1].into_iter().chain((0..200).map(|_| random.u8(..))).collect();
        let _ = decode(&Bytes::from(noise), VERSION, &Selection::ALL);
    }
}
