//! The promises of the guide: the table under "What one request may cost".

use std::collections::BTreeMap;
use std::fs;

use super::measure::Cost;
use crate::requests::routes::Route;

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/operations.md");

const HEADING: &str = "\n## What one request may cost\n";

const COLUMNS: &str = "| Endpoints | Memory | Store operations | Records | Data | Answer |";

/// A row of the table.
#[derive(Debug)]
pub(super) struct Promise {
    /// The endpoints, each with its method.
    pub(super) endpoints: Vec<String>,
    memory: Formula,
    operations: Formula,
    records: Formula,
    data: Formula,
    answer: Formula,
}

/// A sum of a constant and of multiples of sizes, such as `1 MiB + 3 × body`.
#[derive(Clone, Debug, Default)]
struct Formula {
    text: String,
    constant: f64,
    factors: BTreeMap<String, f64>,
}

impl Promise {
    /// Returns the rows of the table.
    pub(super) fn all() -> Vec<Self> {
        let guide = fs::read_to_string(GUIDE).unwrap();
        let (_, section) = guide.split_once(HEADING).expect("the guide has the section");
        let (_, table) = section.split_once(COLUMNS).expect("the section has the table");
        let lines = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        lines.map(Self::parse).collect()
    }

    fn parse(line: &str) -> Self {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[endpoints, memory, operations, records, data, answer] = &cells[..] else {
            panic!("six cells: {line}")
        };
        let endpoints = endpoints.split('`').skip(1).step_by(2).flat_map(alternatives).collect();
        let [memory, operations, records, data, answer] =
            [memory, operations, records, data, answer].map(Formula::parse);
        Self { endpoints, memory, operations, records, data, answer }
    }

    /// Returns whether an endpoint is among those of the row.
    pub(super) fn is_about(&self, route: &Route) -> bool {
        self.endpoints.contains(&route.name())
    }

    /// Returns the limits that a request has exceeded.
    pub(super) fn broken_by(&self, cost: &Cost) -> Vec<String> {
        let limits = [
            ("bytes of memory", cost.memory, &self.memory),
            ("store operations", cost.operations, &self.operations),
            ("records", cost.records, &self.records),
            ("bytes of data", cost.data, &self.data),
            ("bytes of answer", cost.answer, &self.answer),
        ];
        let broken = limits.into_iter().filter_map(|(what, used, formula)| {
            let limit = formula.value(cost);
            (used as f64 > limit).then(|| format!("{used} {what} instead of {}, {limit}", formula.text))
        });
        broken.collect()
    }
}

/// Returns each endpoint of a code such as `PUT,PATCH /api/v1/tags,networks/{id}`, where commas separate alternatives.
fn alternatives(code: &str) -> Vec<String> {
    let (methods, path) = code.split_once(' ').expect("a method and a path");
    let mut endpoints: Vec<String> = methods.split(',').map(|method| format!("{method} ")).collect();
    for segment in path.split('/').skip(1) {
        endpoints = endpoints
            .iter()
            .flat_map(|before| segment.split(',').map(move |choice| format!("{before}/{choice}")))
            .collect();
    }
    endpoints
}

impl Formula {
    fn parse(text: &str) -> Self {
        let mut formula = Self { text: text.to_owned(), ..Self::default() };
        for term in text.split(" + ") {
            let words: Vec<&str> = term.split(' ').collect();
            let number = |text: &str| text.replace(',', "").parse::<f64>().expect("a number");
            match words[..] {
                [word] if word.starts_with(|first: char| first.is_ascii_digit()) => {
                    formula.constant += number(word);
                }
                [count, "KiB"] => formula.constant += number(count) * 1024.0,
                [count, "MiB"] => formula.constant += number(count) * 1024.0 * 1024.0,
                [name] => drop(formula.factors.insert(name.to_owned(), 1.0)),
                [factor, "×", name] => drop(formula.factors.insert(name.to_owned(), number(factor))),
                _ => panic!("not a term: {term}"),
            }
        }
        formula
    }

    fn value(&self, cost: &Cost) -> f64 {
        let size = |name: &str| match name {
            "body" => cost.body,
            "items" => cost.items,
            "records" => cost.records,
            "data" => cost.data,
            "hosts" => cost.hosts,
            "stored" => cost.stored,
            "largest" => cost.largest,
            "answer" => cost.answer,
            other => panic!("unknown size: {other}"),
        };
        self.factors.iter().map(|(name, factor)| size(name) as f64 * factor).sum::<f64>() + self.constant
    }
}

#[test]
fn formula_is_a_sum_of_a_constant_and_of_multiples_of_sizes() {
    let cost = Cost { body: 10, answer: 7, ..Cost::default() };
    for (text, expected) in [("0", 0.0), ("2 KiB + 1.5 × body", 2063.0), ("answer + 1,000", 1007.0)] {
        assert!((Formula::parse(text).value(&cost) - expected).abs() < 1e-9, "{text}");
    }
    assert_eq!(
        alternatives("PUT,GET /api/a,b/{id}"),
        ["PUT /api/a/{id}", "PUT /api/b/{id}", "GET /api/a/{id}", "GET /api/b/{id}"]
    );
}
