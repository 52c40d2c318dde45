//! The limit on concurrent password hashes.

use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc as blocking};
use std::task::Poll;

use tokio::sync::mpsc;
use toposcope::access::{RandomError, RandomSource};

use crate::support::fast;

/// A source of salts that signals when a hash has begun and holds it until released.
#[derive(Debug)]
struct Gate {
    begun: mpsc::UnboundedSender<()>,
    passes: Mutex<blocking::Receiver<()>>,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Gate {
    fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<()>, blocking::Sender<()>) {
        let (begun, begins) = mpsc::unbounded_channel();
        let (pass, passes) = blocking::channel();
        let gate = Self {
            begun,
            passes: Mutex::new(passes),
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        };
        (Arc::new(gate), begins, pass)
    }
}

impl RandomSource for Gate {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let _ = self.begun.send(());
        // An error means that the test is over; the hash must not be blocked then.
        let _ = self.passes.lock().unwrap().recv();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        bytes.fill(1);
        Ok(())
    }
}

async fn poll_once<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// Lets every task run as far as it can, and lets the blocking threads start the work given to them.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }
}

fn password() -> String {
    "correct horse".to_owned()
}

#[tokio::test]
async fn only_so_many_hashes_at_once() {
    for bound in [1, 2, 3] {
        let (gate, mut begins, pass) = Gate::new();
        let hasher = fast().with_concurrency(NonZeroUsize::new(bound).unwrap()).with_random(gate.clone());
        let hashes: Vec<_> = (0..8)
            .map(|_| {
                let clone = hasher.clone();
                tokio::spawn(async move { clone.hash(password()).await })
            })
            .collect();
        for _ in 0..bound {
            begins.recv().await.unwrap();
        }
        settle().await;
        assert!(begins.try_recv().is_err(), "more than {bound} began");
        for _ in bound..8 {
            pass.send(()).unwrap();
            begins.recv().await.unwrap();
        }
        for _ in 0..bound {
            pass.send(()).unwrap();
        }
        for hash in hashes {
            hash.await.unwrap().unwrap();
        }
        assert_eq!(gate.most.load(Ordering::SeqCst), bound);
    }
}

#[tokio::test]
async fn two_at_once_unless_told_otherwise() {
    let (gate, mut begins, pass) = Gate::new();
    let hasher = fast().with_random(gate);
    let mut hashes: Vec<_> = (0..3).map(|_| Box::pin(hasher.hash(password()))).collect();
    for hash in &mut hashes {
        assert!(poll_once(hash).await.is_pending());
    }
    begins.recv().await.unwrap();
    begins.recv().await.unwrap();
    settle().await;
    assert!(begins.try_recv().is_err());
    drop(pass);
    for hash in hashes {
        hash.await.unwrap();
    }
}

#[tokio::test]
async fn a_dropped_future_keeps_its_place_until_its_work_is_done() {
    let (gate, mut begins, pass) = Gate::new();
    let hasher = fast().with_concurrency(NonZeroUsize::MIN).with_random(gate.clone());
    let mut first = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut first).await.is_pending());
    begins.recv().await.unwrap();
    drop(first);

    let mut given_up = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut given_up).await.is_pending());
    let mut second = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut second).await.is_pending());
    let mut login = Box::pin(hasher.verify_absent(password()));
    assert!(poll_once(&mut login).await.is_pending());
    settle().await;
    assert!(poll_once(&mut second).await.is_pending());
    assert!(poll_once(&mut login).await.is_pending());
    assert!(begins.try_recv().is_err(), "the dropped future gave its place away");

    drop(given_up);
    pass.send(()).unwrap();
    pass.send(()).unwrap();
    second.await.unwrap();
    login.await.unwrap();
    begins.recv().await.unwrap();
    assert!(begins.try_recv().is_err(), "the future that was given up did work");
    assert_eq!(gate.most.load(Ordering::SeqCst), 1);
}
