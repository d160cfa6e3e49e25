//! What actors do, said without knowing the state: numbers instead of names, "the newest" instead
//! of an epoch. So an act keeps its meaning when those before it are dropped.

/// A submission of its lane; from [`RETRIES`] on, what tries one again.
pub(super) type Row = u8;

/// What is added to a submission's number for the one that tries it again.
pub(super) const RETRIES: u8 = 100;

/// How an owner's command proves itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proof {
    /// How many claims ago it was won; 0 is the newest.
    pub(super) age: usize,
    /// Whether its token is another one.
    pub(super) forged: bool,
}

/// How a submission ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Completed,
    Failed,
    Aborted,
    GivenUp,
}

/// What an owner does.
#[derive(Clone, Debug)]
pub(super) enum Verb {
    /// For so many milliseconds.
    Renew(u64),
    Release,
    MarkInput,
    MarkUnknown(Vec<u8>),
    CoverUnknown(Vec<u8>),
    Suspend(Vec<u8>),
    Expire(Vec<u8>),
    CoverApprovals(Vec<u8>),
    CoverIncompatible,
    Join(Row),
    MarkJoined(Row),
    RevertJoin(Row),
    SettleJoined(Row, Ending),
    Reserve(Ending),
    Finalize(Ending),
}

/// What one record of an append is about.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fact {
    Input(Row),
    Settled(Row, Ending),
    /// Two numbers that make it one of its own.
    Recovery(Row, u16),
    Creation,
}

/// Whose view of a lane is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum View {
    Claimable,
    Submission(Row),
    Owned(Row),
    Run(Row),
}

/// One command, once the state is known.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// With this text as its input.
    Admit(Row, &'static str),
    /// By somebody of another tenant.
    Trespass(Row),
    /// Said to the run of another row, of the same agent or of a strange one.
    Steer {
        row: Row,
        host: Row,
        strange: bool,
    },
    Ready(Row),
    /// A row, or the one that a reader would choose; how many epochs ago it was read; a token
    /// that was used before.
    Claim {
        row: Option<Row>,
        behind: u64,
        reuse: Option<u8>,
    },
    Own(Proof, Verb),
    Abort(Row, &'static str),
    /// An abort whose reason is too long.
    Ramble(Row),
    /// A doubt of the row, and one of two ways to close it.
    Resolve(Row, u8, bool),
    /// A request of the row: whether it is approved, and by whom.
    Decide(Row, u8, bool, &'static str),
    Retry(Row, &'static str),
    /// Somebody came with this binding, and had read the row so many epochs ago.
    Report {
        row: Row,
        at: u8,
        found: u8,
        behind: u64,
    },
    /// Which binding is to be replaced, by which, and who wants it.
    Rebind {
        row: Row,
        at: u8,
        to: u8,
        who: &'static str,
    },
    /// The log is made, at an epoch so far from its own.
    Materialize {
        skew: i64,
        agent: &'static str,
    },
    /// The log is fenced at an epoch so far from the lane's, over the tail that was seen so many
    /// answers ago; 0 is the one there is.
    Fence {
        skew: i64,
        tail: usize,
    },
    /// The same for an append, at an epoch so far from the log's.
    Append {
        skew: i64,
        tail: usize,
        facts: Vec<Fact>,
    },
    /// An append of a batch that was made for another log.
    Stray(Row),
    ReadLane(View),
    /// From this sequence on.
    ReadLog(u64),
}

/// One of the two handles that are open.
pub(super) type Handle = usize;

/// One line of a script.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// Acts for one lane in one pipeline.
    Send { by: Handle, lane: u8, acts: Vec<Act> },
    /// The last pipeline once more.
    Again { by: Handle },
    /// Acts for some lanes in pipelines that wait at the same time.
    Together { by: Handle, pipelines: Vec<(u8, Vec<Act>)> },
    /// A process dies in a pipeline, at the failpoint with this number if it has so many.
    Crash { by: Handle, lane: u8, acts: Vec<Act>, at: usize },
    /// The clock moves by so many milliseconds, forwards or backwards.
    Clock(i64),
    /// One handle is closed and opened again.
    Reopen(Handle),
    /// Both are closed, and both are opened again.
    Restart,
}

impl Line {
    /// How many acts could be dropped from it without dropping all of it.
    pub(super) fn acts(&self) -> usize {
        match self {
            Self::Send { acts, .. } | Self::Crash { acts, .. } => acts.len(),
            Self::Together { pipelines, .. } => pipelines.iter().map(|(_, acts)| acts.len()).sum(),
            Self::Again { .. } | Self::Clock(_) | Self::Reopen(_) | Self::Restart => 0,
        }
    }

    /// The same without one of its acts.
    pub(super) fn without(&self, act: usize) -> Self {
        let mut line = self.clone();
        match &mut line {
            Self::Send { acts, .. } | Self::Crash { acts, .. } => drop(acts.remove(act)),
            Self::Together { pipelines, .. } => {
                let mut left = act;
                for (_, acts) in &mut *pipelines {
                    if left < acts.len() {
                        acts.remove(left);
                        break;
                    }
                    left -= acts.len();
                }
                pipelines.retain(|(_, acts)| !acts.is_empty());
            }
            Self::Again { .. } | Self::Clock(_) | Self::Reopen(_) | Self::Restart => {}
        }
        line
    }
}
