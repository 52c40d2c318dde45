//! Writes that were packed before others changed their records.

use super::random::{Model, Random};
use super::{add_to_model, assert_same, reloaded, write_at_random};
use crate::store::index::{Index, Packs};

const RECORDS: usize = 10;

#[test]
fn packed_writes_have_the_same_effect_when_their_records_have_changed_since() {
    let mut accepted = 0;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let (mut index, mut model) = (Index::default(), Model::new());
        for step in 0..300 {
            let writes = random.writes(RECORDS);
            let packs = index.packer(&writes).pack(&writes);
            write_at_random(&mut index, &mut model, &mut random, RECORDS);
            let is_accepted = index.check(&writes, &packs, &[]).is_ok();
            assert_eq!(is_accepted, index.check(&writes, &Packs::default(), &[]).is_ok());
            if !is_accepted {
                continue;
            }
            accepted += 1;
            let packs = if step % 4 == 0 { Packs::default() } else { packs };
            let version = index.next_version();
            add_to_model(&mut model, version, &writes);
            index.apply(version, &writes, packs, |_, _| {});
        }
        let reloaded = reloaded(&index, &model);
        assert_same(&index, &reloaded, &model, RECORDS, &mut random);
    }
    assert!(accepted > 1_000, "{accepted}");
}
