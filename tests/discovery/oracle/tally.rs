//! Agreement with the poller by kind of value, with the classes of disagreement.

use std::collections::BTreeMap;

/// The agreement of all kinds.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    kinds: BTreeMap<&'static str, Kind>,
    /// The number of examples that a class prints.
    max_examples: usize,
}

#[derive(Debug, Default)]
struct Kind {
    agreed: u64,
    /// Disagreements that the recording decides against the poller. They are not expected of the parser.
    theirs: BTreeMap<&'static str, Class>,
    ours: BTreeMap<&'static str, Class>,
}

#[derive(Debug, Default)]
struct Class {
    count: u64,
    examples: Vec<String>,
}

impl Class {
    fn add(&mut self, max_examples: usize, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < max_examples {
            self.examples.push(example());
        }
    }

    fn print(&self, whose: &str, name: &str) {
        println!("    {whose:6} {:6}  {name}", self.count);
        for example in &self.examples {
            println!("                     {example}");
        }
    }
}

impl Tally {
    pub(crate) fn new(max_examples: usize) -> Self {
        Self { max_examples, ..Self::default() }
    }

    pub(crate) fn agree(&mut self, kind: &'static str) {
        self.kinds.entry(kind).or_default().agreed += 1;
    }

    /// Counts a disagreement that the recording decides against the poller.
    pub(crate) fn theirs(
        &mut self,
        kind: &'static str,
        class: &'static str,
        example: impl FnOnce() -> String,
    ) {
        let classes = &mut self.kinds.entry(kind).or_default().theirs;
        classes.entry(class).or_default().add(self.max_examples, example);
    }

    pub(crate) fn ours(&mut self, kind: &'static str, class: &'static str, example: impl FnOnce() -> String) {
        let classes = &mut self.kinds.entry(kind).or_default().ours;
        classes.entry(class).or_default().add(self.max_examples, example);
    }

    /// Returns the agreed and the expected values of a kind, without those that the recording decides against the
    /// poller.
    pub(crate) fn of(&self, kind: &str) -> (u64, u64) {
        let Some(kind) = self.kinds.get(kind) else { return (0, 0) };
        let ours: u64 = kind.ours.values().map(|class| class.count).sum();
        (kind.agreed, kind.agreed + ours)
    }

    pub(crate) fn print(&self) {
        for (name, kind) in &self.kinds {
            let (agreed, expected) = self.of(name);
            let theirs: u64 = kind.theirs.values().map(|class| class.count).sum();
            let share = 100.0 * agreed as f64 / expected.max(1) as f64;
            println!(
                "{name:14} {agreed:6} of {expected:6}  {share:6.2} %  ({theirs} decided against the poller)"
            );
            for (class, counted) in &kind.theirs {
                counted.print("theirs", class);
            }
            for (class, counted) in &kind.ours {
                counted.print("ours", class);
            }
        }
    }
}
