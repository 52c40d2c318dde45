//! CSV in UTF-16, as spreadsheets and shells of Windows write it. It is converted while it is read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncBufRead, AsyncRead, BufReader, ReadBuf};

use crate::invariant::Invariant;

/// The number of bytes that are converted at once.
const CHUNK: usize = 8 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, or bytes that are passed on as they are.
    Utf8,
    Utf16LittleEndian,
    Utf16BigEndian,
}

/// A reader that converts UTF-16 with a byte order mark to UTF-8. Other input stays as it is.
#[derive(Debug)]
pub(super) struct Utf8Text<R> {
    reader: BufReader<R>,
    /// The encoding, once the first two bytes were read.
    encoding: Option<Encoding>,
    /// The first bytes, until they show the encoding.
    mark: Vec<u8>,
    /// Converted bytes, which are not consumed from `position` on.
    converted: Vec<u8>,
    position: usize,
    /// The first byte of a code unit.
    byte: Option<u8>,
    /// The first code unit of a surrogate pair.
    surrogate: Option<u16>,
}

impl<R: AsyncRead + Unpin> Utf8Text<R> {
    pub(super) const fn new(reader: BufReader<R>) -> Self {
        Self {
            reader,
            encoding: None,
            mark: Vec::new(),
            converted: Vec::new(),
            position: 0,
            byte: None,
            surrogate: None,
        }
    }

    /// Converts bytes until there are some to be read, or none are left.
    fn poll_convert(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.position >= self.converted.len() && self.encoding != Some(Encoding::Utf8) {
            self.converted.clear();
            self.position = 0;
            let chunk = ready!(Pin::new(&mut self.reader).poll_fill_buf(context))?;
            let most = if self.encoding.is_none() { 2 - self.mark.len().min(2) } else { CHUNK };
            let chunk = chunk.get(..chunk.len().min(most)).asserted_or_default().to_vec();
            Pin::new(&mut self.reader).consume(chunk.len());
            match self.encoding {
                None => self.recognize(&chunk),
                // Half of a character at the end of the input is no text.
                Some(_) if chunk.is_empty() => return Poll::Ready(Ok(())),
                Some(encoding) => chunk.iter().for_each(|byte| self.push(*byte, encoding)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Takes bytes of the mark. None: the input has ended.
    fn recognize(&mut self, chunk: &[u8]) {
        self.mark.extend_from_slice(chunk);
        if self.mark.len() < 2 && !chunk.is_empty() {
            return;
        }
        self.encoding = Some(match self.mark.as_slice() {
            [0xFF, 0xFE] => Encoding::Utf16LittleEndian,
            [0xFE, 0xFF] => Encoding::Utf16BigEndian,
            _ => {
                self.converted = std::mem::take(&mut self.mark);
                Encoding::Utf8
            }
        });
    }

    fn push(&mut self, byte: u8, encoding: Encoding) {
        let Some(first) = self.byte.take() else {
            self.byte = Some(byte);
            return;
        };
        let unit = match encoding {
            Encoding::Utf16BigEndian => u16::from_be_bytes([first, byte]),
            _ => u16::from_le_bytes([first, byte]),
        };
        let before = self.surrogate.take();
        if before.is_none() && (0xD800..0xDC00).contains(&unit) {
            self.surrogate = Some(unit);
            return;
        }
        for decoded in char::decode_utf16(before.into_iter().chain([unit])) {
            let character = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.converted.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Utf8Text<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let input = ready!(self.as_mut().poll_fill_buf(context))?;
        let input = input.get(..input.len().min(buffer.remaining())).asserted_or_default();
        buffer.put_slice(input);
        let length = input.len();
        self.consume(length);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for Utf8Text<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        ready!(this.poll_convert(context))?;
        if this.position < this.converted.len() || this.encoding != Some(Encoding::Utf8) {
            return Poll::Ready(Ok(this.converted.get(this.position..).asserted_or_default()));
        }
        Pin::new(&mut this.reader).poll_fill_buf(context)
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        let this = self.get_mut();
        if this.position < this.converted.len() {
            this.position = this.position.saturating_add(amount).min(this.converted.len());
        } else {
            Pin::new(&mut this.reader).consume(amount);
        }
    }
}
