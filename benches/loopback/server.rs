//! A server on its own thread.

use std::error::Error;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::HttpService;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::runtime;

use crate::processor::keep_on;

/// A server that runs until the process ends.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    /// Path of the thread's statistics in `/proc`.
    schedule: PathBuf,
}

impl Server {
    /// Starts a server on a processor and a free port.
    pub(crate) fn start<S, B>(name: &'static str, processor: u32, service: S) -> Result<Self, Box<dyn Error>>
    where
        S: HttpService<Incoming, ResBody = B, Future: Send> + Clone + Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let (sender, started) = mpsc::channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || -> io::Result<()> {
            keep_on(processor)?;
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
            let schedule = Path::new("/proc").join(fs::read_link("/proc/thread-self")?).join("schedstat");
            // The receiver is dropped only if the benchmark has
            // failed.
            let _ = sender.send((listener.local_addr()?, schedule));
            runtime.block_on(serve(listener, service))
        })?;
        let (address, schedule) = started.recv()?;
        Ok(Self { name, address, schedule })
    }

    /// Returns the processor time of the server's thread.
    pub(crate) fn processor_time(&self) -> Result<Duration, Box<dyn Error>> {
        let schedule = fs::read_to_string(&self.schedule)?;
        let nanoseconds = schedule.split(' ').next().unwrap_or_default();
        Ok(Duration::from_nanos(nanoseconds.parse()?))
    }
}

/// Serves a router as the examples do.
async fn serve<S, B>(listener: TcpListener, service: S) -> io::Result<()>
where
    S: HttpService<Incoming, ResBody = B, Future: Send> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(http.serve_connection(TokioIo::new(stream), service.clone()));
    }
}
