//! A minimal HTTP/1.1 client connection that only finds the end of each response.

use std::future::poll_fn;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::task::Poll;

use memchr::memmem;

const BUFFER: usize = 256 * 1024;

/// A persistent connection with its read buffer.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Range of the buffer that is read, but not consumed.
    start: usize,
    end: usize,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER], start: 0, end: 0 })
    }

    /// Sends a request and passes the response body to `visit` in chunks.
    pub(crate) async fn ask(&mut self, request: &[u8], mut visit: impl FnMut(&[u8])) -> io::Result<()> {
        // The request always fits, because the previous response was read completely.
        self.stream.write_all(request)?;
        let length = self.head().await?;
        self.take(length, &mut visit).await
    }

    /// Consumes the head of a response and returns the length of its body.
    async fn head(&mut self) -> io::Result<usize> {
        let end = self.until(b"\r\n\r\n").await?;
        let length = read_head(&self.buffer[self.start..end]);
        self.start = end;
        length
    }

    /// Consumes this number of bytes, those in the buffer first.
    async fn take(&mut self, count: usize, visit: &mut impl FnMut(&[u8])) -> io::Result<()> {
        let mut missing = count;
        loop {
            let end = self.end.min(self.start + missing);
            visit(&self.buffer[self.start..end]);
            missing -= end - self.start;
            self.start = end;
            if missing == 0 {
                return Ok(());
            }
            self.fill().await?;
        }
    }

    /// Reads until this text, and returns the position of its end in the buffer.
    async fn until(&mut self, text: &[u8]) -> io::Result<usize> {
        loop {
            if let Some(position) = memmem::find(&self.buffer[self.start..self.end], text) {
                return Ok(self.start + position + text.len());
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        if self.end == self.buffer.len() {
            self.buffer.copy_within(self.start.., 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let read = poll_fn(|_| match self.stream.read(&mut self.buffer[self.end..]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            read => Poll::Ready(read),
        });
        let read = read.await?;
        if read == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        self.end += read;
        Ok(())
    }
}

/// Returns the length of a successful response's body. No server here uses chunked encoding.
fn read_head(head: &[u8]) -> io::Result<usize> {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 200 ") {
        return Err(io::Error::other(status.to_owned()));
    }
    let mut fields = lines.filter_map(|line| line.split_once(':'));
    let length = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let (_, length) = length.ok_or_else(|| io::Error::other("the response has no content-length"))?;
    length.trim().parse().map_err(io::Error::other)
}
