//! Writes figures in the text format of OpenMetrics 1.0, which Prometheus reads.

use std::fmt::{Display, Write};

use super::Latencies;

/// A text of metric families.
#[derive(Debug, Default)]
pub(crate) struct OpenMetrics(String);

/// The type of a metric family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MetricKind {
    Counter,
    Gauge,
    Histogram,
}

/// The names and values of labels.
pub(crate) type Labels<'l> = &'l [(&'l str, &'l str)];

/// A metric family whose samples are being written.
#[derive(Debug)]
pub(crate) struct Family<'t> {
    text: &'t mut String,
    name: &'static str,
    kind: MetricKind,
}

impl OpenMetrics {
    /// Begins a family. The unit is the end of its name, if that is one. Each family is written once, and its samples
    /// before the next one begins.
    pub(crate) fn family(&mut self, name: &'static str, kind: MetricKind, help: &str) -> Family<'_> {
        let text = &mut self.0;
        let type_name = match kind {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Histogram => "histogram",
        };
        line(text, format_args!("# TYPE {name} {type_name}"));
        if let Some(unit) = ["seconds", "bytes"].into_iter().find(|unit| name.ends_with(unit)) {
            line(text, format_args!("# UNIT {name} {unit}"));
        }
        line(text, format_args!("# HELP {name} {}", escaped(help)));
        Family { text, name, kind }
    }

    /// Ends the text.
    pub(crate) fn finish(mut self) -> String {
        self.0.push_str("# EOF\n");
        self.0
    }
}

impl Family<'_> {
    /// Writes the sample of a counter or a gauge.
    pub(crate) fn value(&mut self, labels: Labels<'_>, value: u64) {
        let suffix = if self.kind == MetricKind::Counter { "_total" } else { "" };
        self.sample(suffix, labels, None, value);
    }

    /// Writes the samples of a histogram, in seconds.
    pub(crate) fn latencies(&mut self, labels: Labels<'_>, latencies: &Latencies) {
        let mut total = 0;
        let bounds = Latencies::BOUNDS.iter().map(|bound| format!("{:?}", bound.as_secs_f64()));
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&latencies.counts) {
            total += count;
            self.sample("_bucket", labels, Some(&bound), total);
        }
        self.sample("_count", labels, None, total);
        self.sample("_sum", labels, None, format_args!("{:?}", latencies.sum.as_secs_f64()));
    }

    fn sample(&mut self, suffix: &str, labels: Labels<'_>, bound: Option<&str>, value: impl Display) {
        let bound = bound.map(|bound| ("le", bound));
        let mut separator = '{';
        let mut text = String::new();
        for (name, value) in labels.iter().copied().chain(bound) {
            let _ = write!(text, "{separator}{name}=\"{}\"", escaped(value));
            separator = ',';
        }
        if separator == ',' {
            text.push('}');
        }
        line(self.text, format_args!("{}{suffix}{text} {value}", self.name));
    }
}

/// Writing to a text never fails.
fn line(text: &mut String, line: impl Display) {
    let _ = writeln!(text, "{line}");
}

/// Escapes a label's value or a help text.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\").replace('"', r#"\""#).replace('\n', r"\n")
}
