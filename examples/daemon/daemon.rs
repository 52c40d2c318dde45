//! The contact with the service: registering, taking work, reporting progress, and stopping.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use toposcope::client::{Client, ClientError, HttpService};
use toposcope::collect::crawl::CrawlMemory;
use toposcope::model::{DiscoveryId, DiscoveryPhase, Timestamp};
use toposcope::wire::daemon::{DaemonWork, DiscoverySession, SessionType};
use toposcope::wire::{DaemonStatus, DiscoveryUpdate, ErrorCode, NewDaemon};

use super::failure::Failure;
use super::note;
use super::state::DaemonState;
use super::work::{Reach, Settings, Work, repeated};

/// The time between two questions for work, and between two reports of progress.
const INTERVAL: Duration = Duration::from_secs(5);

/// A daemon.
pub(crate) struct Daemon<S, R> {
    client: Client<S>,
    reach: R,
    settings: Settings,
    state: DaemonState,
    file: PathBuf,
}

/// A work as the service knows it.
struct Session {
    id: DiscoveryId,
    began: Timestamp,
    progress: Arc<AtomicU8>,
}

/// The work that a daemon does at present. Dropping it stops everything.
struct PresentWork {
    session: Session,
    work: Pin<Box<dyn Future<Output = Result<CrawlMemory, String>>>>,
}

impl<S: HttpService, R: Reach> Daemon<S, R> {
    /// Creates a daemon, which continues the one whose state is in a file.
    pub(crate) fn new(
        client: Client<S>,
        reach: R,
        settings: Settings,
        file: PathBuf,
    ) -> Result<Self, Failure> {
        let state = DaemonState::read(&file)?;
        Ok(Self { client, reach, settings, state, file })
    }

    /// Registers, and works until the service refuses the daemon. Returns the reason.
    pub(crate) async fn run(&mut self) -> Failure {
        match self.serve().await {
            Ok(never) => match never {},
            Err(failure) => failure,
        }
    }

    async fn serve(&mut self) -> Result<std::convert::Infallible, Failure> {
        self.register().await?;
        let mut present: Option<PresentWork> = None;
        loop {
            let mut status = DaemonStatus::default();
            status.is_ready = Some(present.is_none());
            let asked = repeated(async || self.client.request_work(self.state.id, &status).await).await;
            match asked {
                Ok(DaemonWork(session, is_cancelled)) => {
                    if is_cancelled && let Some(PresentWork { session, work }) = present.take() {
                        note("The work is cancelled.");
                        // It stops now, however long the service is not available to be told.
                        drop(work);
                        self.end(&session, DiscoveryPhase::Cancelled, None).await?;
                    }
                    if let Some(session) = session {
                        present = Some(self.begin(session).await?);
                    }
                }
                // The service has lost its store, or was given another one.
                Err(error) if is_unregistered(&error) => self.register().await?,
                Err(error) => return Err(refused(&error)),
            }
            let result = tokio::select! {
                result = finished(&mut present) => Some(result),
                () = tokio::time::sleep(INTERVAL) => None,
            };
            match (result, &present) {
                (Some(result), _) => {
                    if let Some(PresentWork { session, .. }) = present.take() {
                        self.take_result(&session, result).await?;
                    }
                }
                (None, Some(PresentWork { session, .. })) => {
                    let progress = session.progress.load(Ordering::Relaxed);
                    self.update(session, DiscoveryPhase::Scanning, progress, None).await?;
                }
                (None, None) => {}
            }
        }
    }

    async fn register(&mut self) -> Result<(), Failure> {
        let new = NewDaemon::new(self.state.id, self.settings.name.as_str());
        let registered = repeated(async || self.client.register_daemon(&new).await).await;
        self.state.id = registered.map_err(|error| refused(&error))?.daemon.id;
        self.state.write(&self.file)?;
        note(&format!("Registered as {}.", self.state.id));
        Ok(())
    }

    async fn begin(&self, session: DiscoverySession) -> Result<PresentWork, Failure> {
        let progress = Arc::new(AtomicU8::new(0));
        let work = Work {
            client: self.client.clone(),
            reach: self.reach.clone(),
            settings: self.settings.clone(),
            memory: self.state.memory.clone(),
        };
        let shared = Arc::clone(&progress);
        let future: Pin<Box<dyn Future<Output = _>>> = match session.discovery_type {
            SessionType::SelfReport { host_id } => Box::pin(work.report_self(host_id)),
            SessionType::Network { subnet_ids, .. } | SessionType::Unified { subnet_ids, .. } => {
                Box::pin(async move { work.collect(subnet_ids, &shared).await })
            }
            _ => Box::pin(std::future::ready(Err("This daemon does no work of this type.".to_owned()))),
        };
        let session = Session { id: session.session_id, began: Timestamp::now(), progress };
        note(&format!("Work {} begins.", session.id));
        self.update(&session, DiscoveryPhase::Started, 0, None).await?;
        Ok(PresentWork { session, work: future })
    }

    async fn take_result(
        &mut self,
        ended: &Session,
        result: Result<CrawlMemory, String>,
    ) -> Result<(), Failure> {
        match result {
            Ok(memory) => {
                self.state.memory = memory;
                self.state.write(&self.file)?;
                self.end(ended, DiscoveryPhase::Complete, None).await
            }
            Err(reason) => {
                note(&reason);
                self.end(ended, DiscoveryPhase::Failed, Some(reason)).await
            }
        }
    }

    async fn end(
        &self,
        session: &Session,
        phase: DiscoveryPhase,
        reason: Option<String>,
    ) -> Result<(), Failure> {
        note(&format!("Work {} ends: {phase}.", session.id));
        let progress =
            if phase == DiscoveryPhase::Complete { 100 } else { session.progress.load(Ordering::Relaxed) };
        self.update(session, phase, progress, reason).await
    }

    /// Reports progress, and waits until the service is available.
    async fn update(
        &self,
        session: &Session,
        phase: DiscoveryPhase,
        progress: u8,
        reason: Option<String>,
    ) -> Result<(), Failure> {
        let mut update = DiscoveryUpdate::new(session.id, self.state.id, phase, progress);
        (update.started_at, update.error) = (Some(session.began), reason);
        update.finished_at = phase.is_final().then(Timestamp::now);
        let reported = repeated(async || self.client.report_progress(&update).await).await;
        reported.map_err(|error| refused(&error))
    }
}

/// Waits for the end of the present work, if there is any.
async fn finished(present: &mut Option<PresentWork>) -> Result<CrawlMemory, String> {
    match present {
        Some(present) => present.work.as_mut().await,
        None => std::future::pending().await,
    }
}

fn is_unregistered(error: &ClientError) -> bool {
    matches!(error.code(), Some(ErrorCode::EntityNotFound | ErrorCode::DaemonNotRegistered))
}

fn refused(error: &ClientError) -> Failure {
    let advice = "Check that --key-env names a daemon key of the service";
    Failure::new(format!("The service refuses the daemon: {error} {advice}."))
}
