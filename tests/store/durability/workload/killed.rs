//! Writers in a process that is killed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fastrand::Rng;
use toposcope::store::Store;

use super::settle::commit;
use super::writer::Writer;
use crate::child::{Child, TIMEOUT, say};

/// Time at which a process is killed, relative to one of its messages.
#[derive(Debug)]
enum Moment {
    /// At any time after its start.
    AtOnce,
    /// After it has said that the store is open. The store may then still do work that the opening began.
    Open,
    /// After this many batches.
    Done(usize),
}

/// Kills a child at some moment, at the latest shortly after this many batches. Every message is heard.
pub(crate) fn kill_sometime(child: Child, batches: usize, random: &mut Rng, hear: &mut dyn FnMut(&str)) {
    let (moment, longest) = match random.u8(..5) {
        0 => (Moment::AtOnce, 300_000),
        1 => (Moment::Open, 200_000),
        _ => (Moment::Done(random.usize(1..=batches)), 5_000),
    };
    let pause = Duration::from_micros(random.u64(..longest));
    if !matches!(moment, Moment::AtOnce) {
        wait(&child, &moment, hear);
    }
    let deadline = Instant::now() + pause;
    while let Some(line) = child.next(deadline.saturating_duration_since(Instant::now())) {
        hear(&line);
    }
    let ended = child.kill();
    ended.lines.iter().for_each(|line| hear(line));
    assert!(!ended.status.success() && ended.status.code().is_none(), "{moment:?}: {ended:?}");
}

fn wait(child: &Child, moment: &Moment, hear: &mut dyn FnMut(&str)) {
    let mut done = 0;
    loop {
        let line = child.next(TIMEOUT).expect("a child hangs, or ended");
        done += usize::from(line.starts_with("done "));
        hear(&line);
        match moment {
            Moment::AtOnce => return,
            Moment::Open if line == "open" => return,
            Moment::Done(wanted) if done == *wanted => return,
            Moment::Open | Moment::Done(_) => {}
        }
    }
}

/// Runs in the child: writes one batch after the other, and reports each of them.
pub(crate) async fn write_until_killed(store: Arc<impl Store>, mut writer: Writer) -> Result<(), String> {
    loop {
        let (number, batch) = (writer.number, writer.done + 1);
        say(&format!("begin {number} {batch}"));
        let outcome = commit(&*store, &writer).await;
        outcome.map_err(|error| format!("batch {batch} of writer {number}: {error} ({error:?})"))?;
        say(&format!("done {number} {batch}"));
        writer.go_on();
    }
}
