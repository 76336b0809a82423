//! A run that a thread makes from something, which is kept until the run has taken its place.

use std::sync::Arc;
use std::thread::JoinHandle;

use super::run::Run;
use crate::store::state::StateError;

#[derive(Debug)]
pub enum Making<T> {
    Idle,
    Running(T, JoinHandle<Result<Run, StateError>>),
    /// Could not be made; whoever asks for it tries again.
    Failed(T),
    Made(T, Arc<Run>),
}

impl<T> Making<T> {
    /// Lets a thread of its own make a run from `source`.
    pub fn start(
        &mut self,
        source: T,
        name: &str,
        make: impl FnOnce() -> Result<Run, StateError> + Send + 'static,
    ) -> Result<(), StateError> {
        match std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(make)
        {
            Ok(thread) => {
                *self = Making::Running(source, thread);
                Ok(())
            }
            Err(error) => {
                *self = Making::Failed(source);
                Err(StateError::Store(format!("no thread: {error}")))
            }
        }
    }

    /// Takes the run from its thread, if that has come to an end; with `wait` when it has.
    pub fn progress(&mut self, wait: bool) -> Result<(), StateError> {
        match std::mem::replace(self, Making::Idle) {
            Making::Running(source, thread) if wait || thread.is_finished() => {
                match thread.join() {
                    Ok(Ok(run)) => *self = Making::Made(source, Arc::new(run)),
                    Ok(Err(error)) => {
                        *self = Making::Failed(source);
                        return Err(error);
                    }
                    Err(_) => {
                        *self = Making::Failed(source);
                        return Err(StateError::Store("the writer of runs failed".to_owned()));
                    }
                }
            }
            other => *self = other,
        }
        Ok(())
    }

    pub fn is_idle(&self) -> bool {
        matches!(self, Making::Idle)
    }

    /// What a run is made from, until it has taken its place.
    pub fn source(&self) -> Option<&T> {
        match self {
            Making::Idle => None,
            Making::Running(source, _) | Making::Failed(source) | Making::Made(source, _) => {
                Some(source)
            }
        }
    }

    /// The run that is ready, and what it is made from.
    pub fn made(&self) -> Option<(&T, &Arc<Run>)> {
        match self {
            Making::Made(source, run) => Some((source, run)),
            _ => None,
        }
    }

    /// What could not be made.
    pub fn take_failed(&mut self) -> Option<T> {
        match std::mem::replace(self, Making::Idle) {
            Making::Failed(source) => Some(source),
            other => {
                *self = other;
                None
            }
        }
    }

    /// The run has taken its place: gives what it was made from.
    pub fn take(&mut self) -> Option<T> {
        match std::mem::replace(self, Making::Idle) {
            Making::Made(source, _) => Some(source),
            other => {
                *self = other;
                None
            }
        }
    }

    /// Waits for the thread; what it made is nobody's.
    pub fn end(&mut self) {
        if let Making::Running(_, thread) = std::mem::replace(self, Making::Idle) {
            let _ = thread.join();
        }
    }
}
