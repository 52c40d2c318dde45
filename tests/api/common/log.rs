use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::Dispatch;
use tracing::level_filters::LevelFilter;

/// Captures every log line, of any level, while its dispatch is set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn dispatch(&self) -> Dispatch {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_ansi(false)
            .without_time()
            .with_writer(move || log.clone());
        Dispatch::new(subscriber.finish())
    }

    /// Returns the text logged since the previous call.
    pub(crate) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
