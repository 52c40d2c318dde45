//! UUIDs and clocks.

use std::sync::Arc;
use std::time::Duration;

use toposcope::access::{Clock, ManualClock, SystemClock, SystemRandom, uuid_v4, uuid_v7};
use toposcope::model::Timestamp;
use uuid::Variant;

use crate::support::Constant;

#[test]
fn uuids_carry_their_version_and_time() {
    let four = uuid_v4(&Constant(0xff)).unwrap();
    assert_eq!(four.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    let time: Timestamp = "2022-02-22T19:22:22Z".parse().unwrap();
    // The example of RFC 9562, appendix A.6, has this time.
    let seven = uuid_v7(&Constant(0), time).unwrap();
    assert_eq!(seven.to_string(), "017f22e2-79b0-7000-8000-000000000000");
    for uuid in [four, seven] {
        assert_eq!(uuid.get_variant(), Variant::RFC4122);
    }
    let later = uuid_v7(&Constant(0), time.plus_micros(1_000)).unwrap();
    assert!(uuid_v7(&Constant(0xff), time).unwrap() < later);
    let early = uuid_v7(&Constant(0), "1969-12-31T00:00:00Z".parse().unwrap()).unwrap();
    assert_eq!(early, uuid_v7(&Constant(0), Timestamp::UNIX_EPOCH).unwrap());
    assert_ne!(uuid_v4(&SystemRandom).unwrap(), uuid_v4(&SystemRandom).unwrap());
}

#[test]
fn a_manual_clock_moves_when_it_is_moved() {
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
