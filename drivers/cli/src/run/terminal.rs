//! Whoever sits at the terminal decides (AUTH-14).
//!
//! What the file's own approver decides nobody is asked about. A question shows what would be done, to
//! what, how much harm it can do, and which layer of the policy wants it; nothing that the tool's
//! author keeps from people. What is typed before a question is shown answers no question. Whoever says
//! "later", or closes the input, leaves it to others: the submission waits.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use everstep_machine::agent::{ApprovalTerms, Verdict};
use everstep_machine::approval::Answer;
use everstep_machine::clearance::Said;
use everstep_machine::effect::{ApprovalQuestion, Subject};
use everstep_machine::identity::{RunId, Turn};
use everstep_machine::record::Resolver;
use everstep_runtime::{Approver, BoxFuture, Decision, pause};

use super::named::principal;
use crate::asked::risk;
use crate::output::{self, HEAD, one_line, styled};

/// Between two looks at what was typed.
const GLANCE: Duration = Duration::from_millis(50);

/// An approver who asks a person, once the file has said what it says.
pub(super) struct Terminal {
    first: Arc<dyn Approver>,
    typed: Arc<Typed>,
}

impl Terminal {
    /// Behind the file's own approver, if somebody is there: input and complaints are a terminal's.
    pub(super) fn behind(first: Arc<dyn Approver>) -> Arc<dyn Approver> {
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            Arc::new(Self { first, typed: Arc::new(Typed(OnceLock::new())) })
        } else {
            first
        }
    }
}

impl Approver for Terminal {
    fn approve(
        &self,
        run: RunId,
        turn: Turn,
        questions: Vec<ApprovalQuestion>,
    ) -> BoxFuture<Vec<Decision>> {
        let first = self.first.approve(run, turn, questions.clone());
        let typed = Arc::clone(&self.typed);
        Box::pin(async move {
            let mut decided = first.await;
            let is_open = |it: &&ApprovalQuestion| {
                let may = it.terms.approver.as_ref().is_none_or(|only| *only == principal());
                may && decided.iter().all(|made| made.request != it.request)
            };
            let open: Vec<ApprovalQuestion> = questions.iter().filter(is_open).cloned().collect();
            for question in open {
                let Some(answer) = ask(&question, &typed).await else { break };
                let (by, reason) =
                    (Resolver::Person(principal()), "decided at the terminal".into());
                let said = Said { answer, by, reason };
                decided.push(Decision { request: question.request, said });
            }
            decided
        })
    }
}

/// Shows a question until it is answered; none if it is left to others.
async fn ask(question: &ApprovalQuestion, typed: &Typed) -> Option<Answer> {
    let may_last = question.may_hold_for_session();
    typed.begin();
    // Whatever was typed by now was typed without having seen it.
    loop {
        pause(GLANCE).await;
        match typed.take() {
            Ok(_) => {}
            Err(TryRecvError::Empty) => break,
            Err(TryRecvError::Disconnected) => return None,
        }
    }
    // Half a line too, which nobody has ended.
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
    output::note(&shown(question));
    loop {
        output::note(if may_last {
            "[y] allow once   [s] allow for this session   [n] deny   [l] leave it to others"
        } else {
            "[y] allow once   [n] deny   [l] leave it to others"
        });
        let line = loop {
            match typed.take() {
                Ok(line) => break line,
                Err(TryRecvError::Empty) => pause(GLANCE).await,
                Err(TryRecvError::Disconnected) => return None,
            }
        };
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(Answer::Once),
            "s" | "session" if may_last => return Some(Answer::ForSession),
            "n" | "no" => return Some(Answer::Deny),
            "l" | "later" => return None,
            _ => output::note("answer with one of the letters"),
        }
    }
}

fn shown(question: &ApprovalQuestion) -> String {
    let tool = one_line(question.tool.as_str());
    let mut text = format!("{}\n", styled(HEAD, format_args!("may {tool} start?")));
    let mut line = |what: &str, said: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {what:<7} {}", one_line(said));
    };
    line("with", question.preview.as_str());
    match &question.target {
        Subject::Named(resource) => line("on", resource.as_str()),
        Subject::Unresolved => line("on", "something that cannot be told from its parameters"),
        Subject::Unsaid => {}
    }
    if let Some(capability) = &question.capability {
        line("takes", capability.as_str());
    }
    if question.stands_for > 1 {
        line("calls", &format!("{} equal ones of this turn", question.stands_for));
    }
    line("risk", risk(question.risk));
    line("asked", &format!("{} wants it", question.rule.layer));
    line("until", &until(&question.terms));
    text.truncate(text.trim_end().len());
    text
}

fn until(terms: &ApprovalTerms) -> String {
    let then = match terms.on_expiry {
        Verdict::Denied => "denied",
        Verdict::Approved => "approved",
    };
    match terms.expiry {
        Some(span) => format!("left to others, it is {then} after {} s", span.0.div_ceil(1_000)),
        None => "somebody decides".to_owned(),
    }
}

/// Lines that a person types, read by a thread of their own from the first question on.
struct Typed(OnceLock<Mutex<Receiver<String>>>);

impl Typed {
    /// Lets the reading begin.
    fn begin(&self) {
        self.0.get_or_init(|| {
            let (say, said) = channel();
            std::thread::spawn(move || {
                for line in io::stdin().lock().split(b'\n') {
                    let Ok(line) = line else { break };
                    if say.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                        break;
                    }
                }
            });
            Mutex::new(said)
        });
    }

    fn take(&self) -> Result<String, TryRecvError> {
        let said = self.0.get().ok_or(TryRecvError::Disconnected)?;
        said.lock().unwrap_or_else(PoisonError::into_inner).try_recv()
    }
}
