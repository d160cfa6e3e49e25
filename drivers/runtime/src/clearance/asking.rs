//! One batch of questions, from when they are asked until each has its answer or is left to people.

use std::sync::Arc;

use everstep_machine::clearance::{Input, Said};
use everstep_machine::effect::{ApprovalAnswer, ApprovalQuestion, Asker};
use everstep_machine::identity::{ApprovalId, RunId, Turn};
use tokio::sync::oneshot;

use super::{Clearance, Put};
use crate::ports::{Approver, Decision};

impl Clearance {
    /// Asks about calls. What was allowed for the session is answered at once, what is being asked by
    /// another run of the host waits for that answer, and the rest is put to the approver.
    pub(crate) async fn approve(
        &self,
        (run, turn): (RunId, Turn),
        asker: Asker,
        questions: Arc<[ApprovalQuestion]>,
        approver: &dyn Approver,
    ) -> Vec<ApprovalAnswer> {
        let mut asking = Asking::begin(self, asker, &questions);
        let put = asking.put.iter().map(|put| put.about.clone()).collect::<Vec<_>>();
        if !put.is_empty() {
            tokio::select! {
                biased;
                // A session that ends meanwhile has answered for everybody.
                () = asking.answered() => {}
                decisions = approver.approve(run, turn, put) => asking.decide(decisions),
            }
        }
        asking.answered().await;
        std::mem::take(&mut asking.answers)
    }
}

/// Questions that wait for their answers. Dropping it leaves to people what it has put.
struct Asking<'a> {
    clearance: &'a Clearance,
    put: Vec<Put>,
    waits: Vec<(ApprovalId, oneshot::Receiver<Option<ApprovalAnswer>>)>,
    answers: Vec<ApprovalAnswer>,
}

impl<'a> Asking<'a> {
    fn begin(clearance: &'a Clearance, asker: Asker, questions: &Arc<[ApprovalQuestion]>) -> Self {
        let mut desk = clearance.desk();
        let mut waits = Vec::new();
        for question in questions.iter() {
            let (answer, answered) = oneshot::channel();
            desk.waiting.entry(question.request).or_default().push(answer);
            waits.push((question.request, answered));
        }
        let (asker, questions) = (Box::new(asker), Arc::clone(questions));
        let now = desk.now();
        let put = desk.tell(Input::Asked { now, asker, questions });
        drop(desk);
        Self { clearance, put, waits, answers: Vec::new() }
    }

    /// Somebody has decided some of what was put. The rest is left to people.
    fn decide(&mut self, decisions: Vec<Decision>) {
        for put in std::mem::take(&mut self.put) {
            let about = |it: &Decision| it.request == put.about.request;
            // Of two decisions the first one counts, as anywhere else.
            let said: Option<Said> =
                decisions.iter().find(|it| about(it)).map(|it| it.said.clone());
            let mut desk = self.clearance.desk();
            let (now, question) = (desk.now(), put.question);
            desk.tell(match said {
                Some(said) => Input::Decided { now, question, said },
                None => Input::Undecided(question),
            });
        }
    }

    /// Waits until every question has its answer, or is left to people.
    async fn answered(&mut self) {
        while let Some((_, answer)) = self.waits.last_mut() {
            let answer = answer.await;
            self.waits.pop();
            self.answers.extend(answer.ok().flatten());
        }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        for put in std::mem::take(&mut self.put) {
            self.clearance.desk().tell(Input::Undecided(put.question));
        }
        let requests: Vec<ApprovalId> = self.waits.drain(..).map(|(request, _)| request).collect();
        let mut desk = self.clearance.desk();
        for request in requests {
            let waiting = desk.waiting.entry(request).or_default();
            waiting.retain(|waiter| !waiter.is_closed());
            if waiting.is_empty() {
                desk.waiting.remove(&request);
                desk.tell(Input::Withdrawn(request));
            }
        }
    }
}
