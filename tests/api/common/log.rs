//! All that is logged, at every level, on the threads of a test.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tracing::Dispatch;
use tracing::level_filters::LevelFilter;

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

    /// What was logged since the last time.
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
