//! A connection and what was read ahead from it; every read runs under the clock.

use std::io;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::clock::{Clock, Phase};

/// What is read ahead at once: a head and the first part of most bodies.
const BUFFER: usize = 16 << 10;

/// Why a response is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The connection ended or was reset.
    Disconnect,
    /// The server closed in good order before the length that it had declared.
    Short,
    /// A time limit.
    Time(Phase),
    /// No HTTP.
    Protocol(&'static str),
    /// The size limit.
    Length,
}

#[derive(Debug)]
pub(super) struct Wire<S> {
    pub(super) stream: S,
    pub(super) buffer: BytesMut,
}

impl<S: AsyncRead + Unpin> Wire<S> {
    pub(super) fn new(stream: S) -> Self {
        Wire {
            stream,
            buffer: BytesMut::new(),
        }
    }

    /// Reads more into the buffer; 0 at the end.
    pub(super) async fn fill(
        &mut self,
        stall: Duration,
        clock: &mut Clock,
    ) -> Result<usize, Fault> {
        clock.phase(Phase::Stall, stall);
        self.fill_in_phase(clock).await
    }

    /// The same under the phase that runs already.
    pub(super) async fn fill_in_phase(&mut self, clock: &mut Clock) -> Result<usize, Fault> {
        self.buffer.reserve(BUFFER);
        settle(clock.run(self.stream.read_buf(&mut self.buffer)).await)
    }

    /// Reads past the buffer, which is empty, straight to where the bytes belong.
    pub(super) async fn read_into(
        &mut self,
        mut target: impl BufMut,
        stall: Duration,
        clock: &mut Clock,
    ) -> Result<usize, Fault> {
        clock.phase(Phase::Stall, stall);
        settle(clock.run(self.stream.read_buf(&mut target)).await)
    }
}

fn settle(result: Result<io::Result<usize>, Phase>) -> Result<usize, Fault> {
    match result {
        Ok(Ok(count)) => Ok(count),
        // TLS without its farewell: as common as it is against the rules, so an ordinary end.
        Ok(Err(error)) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
        Ok(Err(_)) => Err(Fault::Disconnect),
        Err(phase) => Err(Fault::Time(phase)),
    }
}
