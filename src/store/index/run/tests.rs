use super::*;

/// Gives one prefix to several consecutive rows.
fn prefix_of(row: RowId) -> u128 {
    u128::from(row / 700)
}

/// Rows are their own keys in this test.
#[test]
fn a_run_agrees_with_a_sorted_vector_through_random_insertions_and_removals() {
    let mut run = Run::default();
    let mut model: Vec<RowId> = Vec::new();
    let mut random = fastrand::Rng::with_seed(7);
    for step in 0..60_000_u32 {
        // Grows in the first half and shrinks in the second, so that blocks split and merge.
        let grow = random.u8(..10) < if step < 30_000 { 8 } else { 2 };
        let row = if step % 3 == 0 { step } else { random.u32(..50_000) };
        match model.binary_search(&row) {
            Err(place) if grow => {
                model.insert(place, row);
                run.insert(row, prefix_of, |other| other < row);
            }
            Ok(place) if !grow => {
                model.remove(place);
                assert!(run.remove(row, prefix_of, |other| other < row));
            }
            Err(place) if !model.is_empty() && !grow => {
                let row = model.remove(place.min(model.len() - 1));
                assert!(run.remove(row, prefix_of, |other| other < row));
            }
            _ => assert!(!run.remove(u32::MAX, prefix_of, |other| other < row)),
        }
        if step % 997 == 0 {
            assert_same(&run, &model);
        }
    }
    assert_same(&run, &model);
}

fn assert_same(run: &Run, model: &[RowId]) {
    assert_eq!(run.len(), model.len());
    assert_eq!(run.rows().collect::<Vec<_>>(), model);
    for rank in (0..model.len()).step_by(61) {
        let place = run.place(rank);
        assert_eq!(run.at(place), Some(model[rank]));
        assert_eq!(run.rank(place), rank);
        assert_eq!(run.at(run.next(place)), model.get(rank + 1).copied());
        assert_eq!(
            run.before(place).and_then(|place| run.at(place)),
            rank.checked_sub(1).map(|rank| model[rank])
        );
        let bound = model[rank];
        assert_eq!(
            run.rank(run.partition_place(prefix_of(bound)..=prefix_of(bound), |row| row < bound)),
            rank
        );
        let end = run.place((rank + 700).min(model.len()));
        assert_eq!(run.between(place, end).collect::<Vec<_>>(), &model[rank..(rank + 700).min(model.len())]);
    }
    assert_eq!(run.at(run.end()), None);
    assert_eq!(run.rank(run.end()), model.len());
}
