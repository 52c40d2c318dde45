//! Callers, their scopes, and clocks.

use std::sync::Arc;
use std::time::Duration;

use toposcope::access::{Caller, Clock, Credential, ManualClock, Scope, SystemClock};
use toposcope::model::{NetworkId, OrganizationId, Permission, Timestamp, UserApiKeyId, UserId};

const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

fn subsets(networks: &[NetworkId]) -> Vec<Vec<NetworkId>> {
    (0..1_usize << networks.len())
        .map(|mask| (0..networks.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| networks[bit]).collect())
        .collect()
}

fn networks() -> [NetworkId; 4] {
    [1, 2, 3, 4].map(NetworkId::from_u128)
}

#[test]
fn scopes_behave_as_sets() {
    let all = networks();
    let mut scopes = vec![Scope::all()];
    scopes.extend(subsets(&all[..3]).into_iter().map(Scope::only));
    for one in &scopes {
        assert_eq!(&one.intersect(one), one);
        assert_eq!(&one.intersect(&Scope::all()), one);
        for network in all {
            assert_eq!(
                one.allows(network),
                one.networks().is_none_or(|networks| networks.contains(&network))
            );
            assert_eq!(one.narrowed_to(network), one.intersect(&Scope::only([network])));
        }
        for other in &scopes {
            let both = one.intersect(other);
            assert_eq!(both, other.intersect(one));
            for network in all {
                assert_eq!(both.allows(network), one.allows(network) && other.allows(network));
            }
            for third in &scopes {
                assert_eq!(both.intersect(third), one.intersect(&other.intersect(third)));
            }
        }
    }
}

#[test]
fn scope_lists_its_networks_sorted_and_once() {
    let [a, b, c, _] = networks();
    assert_eq!(Scope::only([c, a, b, a, c]).networks(), Some(&[a, b, c][..]));
    assert_eq!(Scope::only([]).networks(), Some(&[][..]));
    assert_eq!(Scope::all().networks(), None);
}

#[test]
fn grant_applies_to_members_and_viewers_only() {
    let [a, b, ..] = networks();
    for level in [Permission::Owner, Permission::Admin] {
        assert_eq!(Scope::granted(level, [a]), Scope::all());
    }
    for level in [Permission::Member, Permission::Viewer] {
        assert_eq!(Scope::granted(level, [b, a]), Scope::only([a, b]));
        assert_eq!(Scope::granted(level, []), Scope::only([]));
    }
}

#[test]
fn key_acts_with_the_lower_level_in_the_networks_of_both() {
    let (organization, user, id) =
        (OrganizationId::from_u128(7), UserId::from_u128(8), UserApiKeyId::from_u128(9));
    let all = networks();
    let rank = |level| LEVELS.iter().position(|known| *known == level).unwrap();
    for owner in LEVELS {
        for level in LEVELS {
            for granted in subsets(&all[..3]) {
                for listed in subsets(&all[1..]) {
                    let scope = Scope::granted(owner, granted.clone());
                    let caller =
                        Caller::new(organization, user, owner, scope).through_key(id, level, listed.clone());
                    assert_eq!(rank(caller.permission()), rank(owner).min(rank(level)));
                    let reached: Vec<NetworkId> = listed
                        .into_iter()
                        .filter(|network| rank(owner) >= 2 || granted.contains(network))
                        .collect();
                    assert_eq!(caller.scope().networks(), Some(&reached[..]), "{owner:?} {level:?}");
                    assert_eq!((caller.organization_id(), caller.user_id()), (organization, user));
                    assert_eq!(caller.credential(), Credential::UserApiKey { id });
                }
            }
        }
    }
}

#[test]
fn host_counts_as_a_session_and_a_key_does_not() {
    let (organization, user) = (OrganizationId::from_u128(1), UserId::from_u128(2));
    let host = Caller::new(organization, user, Permission::Viewer, Scope::all());
    assert_eq!(host.credential(), Credential::HostApplication);
    assert!(host.credential().is_session());
    let session = host.clone().through_session();
    assert_eq!(session.credential(), Credential::Session);
    assert!(session.credential().is_session());
    assert_eq!((session.permission(), session.scope()), (host.permission(), host.scope()));
    assert!(!host.through_key(UserApiKeyId::from_u128(3), Permission::Viewer, []).credential().is_session());
}

#[test]
fn manual_clock_moves_only_when_it_is_moved() {
    let time: Timestamp = "2026-08-14T12:00:00Z".parse().unwrap();
    let clock = ManualClock::new(time);
    let shared: Arc<dyn Clock> = Arc::new(clock.clone());
    assert_eq!((shared.now(), shared.now()), (time, time));
    clock.advance(Duration::from_micros(1));
    assert_eq!((shared.now(), shared.monotonic()), (time.plus_micros(1), Duration::from_micros(1)));
    clock.set(Timestamp::UNIX_EPOCH);
    assert_eq!((shared.now(), shared.monotonic()), (Timestamp::UNIX_EPOCH, Duration::from_micros(1)));
    clock.advance(Duration::MAX);
    clock.advance(Duration::MAX);
    assert_eq!(shared.now().to_string(), "9999-12-31T23:59:59.999999Z");
    assert_eq!(shared.monotonic(), Duration::from_micros(u64::MAX));
    clock.set(time);
    assert_eq!(format!("{clock:?}"), "ManualClock(2026-08-14T12:00:00Z)");

    let elapsed = SystemClock.monotonic();
    assert!(elapsed <= SystemClock.monotonic());

    let before = Timestamp::now();
    let now = SystemClock.now();
    assert!(before <= now && now <= Timestamp::now());
}
