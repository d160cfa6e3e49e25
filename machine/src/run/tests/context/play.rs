//! Runs that are played to their end, against a model that answers by what it is shown.

use alloc::collections::VecDeque;

use super::*;
use crate::agent::{Binding, ModelRequest};
use crate::projection::Projection;
use crate::record::{Batch, SubmissionSettled};

/// What a model answers to a request.
pub(super) type Answered = Result<ModelResponse, ModelFault>;

/// An agent and everything around it.
pub(super) struct World<'a> {
    pub(super) binding: Arc<Binding>,
    pub(super) model: &'a dyn Fn(&ModelRequest) -> Answered,
    /// What every tool returns.
    pub(super) result: ToolOutcome,
}

/// Something that happened in a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Happened {
    Committed(Arc<Batch>),
    Asked(External),
    Settled(Settlement),
}

impl World<'_> {
    fn answer(&self, external: &External) -> Answer {
        match external {
            External::CallModel(it) => {
                let response = (self.model)(it).map(Arc::new).map_err(Into::into);
                Answer::Model { run: it.run, turn: it.turn, purpose: it.purpose, response }
            }
            External::Check { run, turn, subject, values } => {
                let verdicts = values.iter().map(|_| None).collect();
                Answer::Checked { run: *run, turn: *turn, subject: *subject, verdicts }
            }
            External::Authorize { run, turn, .. } => {
                let authorization = Authorization::Allowed;
                Answer::Authorizer { run: *run, turn: *turn, authorization }
            }
            External::InvokeTool(it) => Answer::Tool {
                start: Doubt { call: it.call, start: it.epoch },
                outcome: Arc::new(self.result.clone()),
            },
            External::Clear { .. } => external.cleared().expect("a question about calls"),
            External::Approve { .. }
            | External::Permits { .. }
            | External::NextStep(_)
            | External::Reconcile(_) => {
                unreachable!("nobody wants it")
            }
        }
    }

    /// Plays the run of a submission from what is canonical of it.
    pub(super) fn play(&self, fold: &Projection, tale: Tale) -> Vec<Happened> {
        let conversation = call("1", "").conversation;
        let binding = self.binding.clone();
        let state = State::new(binding, conversation, tale.submission(), Epoch(1), fold.clone());
        let mut happened = Vec::new();
        let mut step = Run::step(state, RESUMED);
        let mut queue = VecDeque::from(step.effects);
        while let Some(effect) = queue.pop_front() {
            let input = match effect {
                Effect::Commit(batch) => {
                    happened.push(Happened::Committed(batch));
                    continue;
                }
                Effect::Settle(settlement) => {
                    happened.push(Happened::Settled(settlement));
                    continue;
                }
                Effect::Schedule { timer: Timer::Deadline, .. }
                | Effect::Tell(_)
                | Effect::Listen => continue,
                Effect::Schedule { timer, .. } => Input::Due(timer),
                Effect::External(external) => {
                    let answer = self.answer(&external);
                    happened.push(Happened::Asked(external));
                    Input::Answered(answer)
                }
            };
            step = Run::step(step.state, input);
            queue.extend(step.effects);
        }
        happened
    }
}

/// A conversation that grows run by run.
pub(super) struct Talk {
    pub(super) fold: Projection,
    pub(super) records: Vec<Record>,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self { fold: Story::new().fold, records: Vec::new() }
    }

    pub(super) fn tell(&mut self, record: Record) {
        let conversation = call("1", "").conversation;
        let batch = Batch::new(&conversation, alloc::vec![record]).unwrap();
        self.add(&batch);
    }

    pub(super) fn add(&mut self, batch: &Batch) {
        self.fold.apply(Epoch(1), batch).unwrap();
        self.records.extend(batch.records().iter().cloned());
    }

    /// A whole submission, from its input to its settlement.
    pub(super) fn run(&mut self, world: &World<'_>, tale: Tale, words: &str) -> Vec<Happened> {
        self.tell(input(tale, words));
        let happened = world.play(&self.fold, tale);
        for it in &happened {
            match it {
                Happened::Committed(batch) => self.add(batch),
                Happened::Settled(settlement) => {
                    let (submission, run) = (tale.submission(), Some(tale.run()));
                    let settlement = settlement.clone();
                    let settled = SubmissionSettled { submission, run, settlement };
                    self.tell(Record::SubmissionSettled(settled));
                }
                Happened::Asked(_) => {}
            }
        }
        happened
    }
}

/// The submission with this number.
pub(super) fn tale(number: usize) -> Tale {
    Tale(alloc::boxed::Box::leak(number.to_string().into_boxed_str()))
}

/// The input of a submission, in words of the test's choice.
pub(super) fn input(tale: Tale, words: &str) -> Record {
    match tale.input() {
        Record::InputRecorded(it) => {
            let input = crate::testkit::text(words);
            Record::InputRecorded(crate::record::InputRecorded { input, ..it })
        }
        other => panic!("{other:?}"),
    }
}

/// A response in words, of a provider that has not counted the request.
pub(super) fn said(words: &str) -> ModelResponse {
    let parts = alloc::vec![crate::agent::ResponsePart::Text(words.into())];
    ModelResponse { parts, ..response(&[]) }
}
