//! Whatever happens in whatever order: a second, simpler account of what people have said decides
//! whether a call may be let through by it.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Act {
    Open { session: u8, principal: u8 },
    Ask { session: u8, principal: u8, what: u8, is_critical: bool },
    Answer { recent: u8, answer: Answer },
    Withdraw { recent: u8 },
    Revoke { principal: u8 },
    Replace { session: u8, by: u8 },
    Close,
    Promote { agent: u8 },
}

fn any_act() -> impl Strategy<Value = Act> {
    let answers = [Answer::Once, Answer::ForSession, Answer::ForSession, Answer::Deny];
    prop_oneof![
        3 => (0..3_u8, 0..2_u8).prop_map(|(session, principal)| Act::Open { session, principal }),
        12 => (0..3_u8, 0..2_u8, 0..8_u8, prop::bool::weighted(0.1)).prop_map(
            |(session, principal, what, is_critical)| Act::Ask { session, principal, what, is_critical }
        ),
        6 => (0..4_u8, prop::sample::select(Vec::from(answers)))
            .prop_map(|(recent, answer)| Act::Answer { recent, answer }),
        1 => (0..4_u8).prop_map(|recent| Act::Withdraw { recent }),
        1 => (0..2_u8).prop_map(|principal| Act::Revoke { principal }),
        1 => (0..3_u8, 0..3_u8).prop_map(|(session, by)| Act::Replace { session, by }),
        1 => Just(Act::Close),
        1 => (0..2_u8).prop_map(|agent| Act::Promote { agent }),
    ]
}

/// Steps of the clock: mostly on, at times by hours, seldom back.
fn any_pause() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 0..1_000_i64, 3 => 0..(SESSION_ALLOW_MS as i64), 1 => -5_000..0_i64]
}

fn names(session: u8, principal: u8) -> (SessionId, PrincipalId) {
    let session = ["s0", "s1", "s2"][usize::from(session)];
    (self::session(session), self::principal(["ada", "bob"][usize::from(principal)]))
}

/// One of eight deeds: two agents, two revisions, two snapshots.
fn doing(what: u8) -> Deed {
    let of = |bit: u8| Digest::of("test", &[what >> bit & 1]);
    Deed {
        agent: agent(["writer", "reader"][usize::from(what & 1)]),
        revision: of(1),
        snapshot: of(2),
        ..deed()
    }
}

/// What a person has said for a session, as somebody would write it on a sheet.
struct Said {
    ask: Ask,
    at: u64,
}

/// The sheet, and what is open.
#[derive(Default)]
struct Sheet {
    now: u64,
    said: Vec<Said>,
    open: Vec<(QuestionId, Ask, Vec<Ask>)>,
    sessions: BTreeMap<SessionId, PrincipalId>,
    asked: u64,
}

fn is_same(one: &Ask, two: &Ask) -> bool {
    (&one.session, &one.principal, &one.deed, &one.ruling, one.is_resolved)
        == (&two.session, &two.principal, &two.deed, &two.ruling, two.is_resolved)
}

impl Sheet {
    fn input(&mut self, act: &Act) -> Input {
        let now = Timestamp(self.now);
        let recent = |recent: u8| self.asked.saturating_sub(u64::from(recent) + 1);
        match *act {
            Act::Open { session, principal } => {
                let (session, principal) = names(session, principal);
                self.sessions.entry(session.clone()).or_insert_with(|| principal.clone());
                Input::Opened { session, principal }
            }
            Act::Ask { session, principal, what, is_critical } => {
                let (session, principal) = names(session, principal);
                let mut id = [0; 16];
                id[..8].copy_from_slice(&self.asked.to_be_bytes());
                self.asked += 1;
                let risk = if is_critical { Risk::Critical } else { Risk::High };
                let (deed, ruling) = (doing(what), ruled(Judgement::Prompt, risk));
                let request = ApprovalId(id);
                asked(
                    self.now,
                    Ask { request, session, principal, deed, ruling, is_resolved: true },
                )
            }
            Act::Answer { recent, answer } => {
                let open = self.open.len().checked_sub(usize::from(recent) + 1);
                let question = open.map_or(QuestionId(u64::MAX), |at| self.open[at].0);
                Input::Decided { now, question, answer }
            }
            Act::Withdraw { recent: number } => {
                let mut id = [0; 16];
                id[..8].copy_from_slice(&recent(number).to_be_bytes());
                Input::Withdrawn(ApprovalId(id))
            }
            Act::Revoke { principal } => {
                let (_, principal) = names(0, principal);
                self.sessions.retain(|_, whose| *whose != principal);
                self.said.retain(|it| it.ask.principal != principal);
                Input::Revoked(principal)
            }
            Act::Replace { session, by } => {
                let ((session, _), (by, _)) = (names(session, 0), names(by, 0));
                if let Some(whose) = self.sessions.remove(&session) {
                    self.said.retain(|it| it.ask.session != session);
                    self.sessions.entry(by.clone()).or_insert(whose);
                }
                Input::Replaced { session, by }
            }
            Act::Close => {
                self.sessions.clear();
                self.said.clear();
                Input::Closed
            }
            Act::Promote { agent } => {
                let agent = doing(agent).agent;
                self.said.retain(|it| it.ask.deed.agent != agent);
                Input::Promoted(agent)
            }
        }
    }

    /// Whether what people have said lets a call through.
    fn is_said(&self, ask: &Ask) -> bool {
        let is_live = |it: &Said| is_same(&it.ask, ask) && self.now - it.at < SESSION_ALLOW_MS;
        self.said.iter().any(is_live)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn auth_10_to_12_whatever_happens_an_allow_is_what_somebody_has_said_about_the_same(
        acts in prop::collection::vec((any_act(), any_pause()), 0..120),
    ) {
        let (mut state, mut sheet) = (State::default(), Sheet::default());
        let mut promoted: Vec<QuestionId> = Vec::new();
        for (act, pause) in acts {
            let before = sheet.now;
            let timed = matches!(act, Act::Ask { .. } | Act::Answer { .. });
            if timed {
                sheet.now = sheet.now.saturating_add_signed(pause);
                if sheet.now < before {
                    sheet.said.clear();
                }
            }
            let input = sheet.input(&act);
            if let Input::Promoted(agent) = &input {
                let of = sheet.open.iter().filter(|(_, first, _)| first.deed.agent == *agent);
                promoted.extend(of.map(|(id, ..)| *id));
            }
            for effect in tell(&mut state, input.clone()) {
                match (&input, effect) {
                    (Input::Asked { ask, .. }, Effect::Allow { grounds, .. }) => {
                        let is_session = matches!(grounds, Grounds::Session { .. });
                        prop_assert!(is_session);
                        prop_assert!(sheet.is_said(ask), "nobody has said so: {:?}", ask);
                        prop_assert_eq!(sheet.sessions.get(&ask.session), Some(&ask.principal));
                        prop_assert!(ask.ruling.risk < Risk::Critical);
                    }
                    (Input::Asked { ask, .. }, Effect::Ask { question, .. }) => {
                        prop_assert!(!sheet.is_said(ask), "it was said before: {:?}", ask);
                        let shared = sheet.open.iter().any(|(id, first, _)| {
                            is_same(first, ask) && first.may_be_remembered() && !promoted.contains(id)
                        });
                        prop_assert!(!shared, "the same is being asked: {:?}", ask);
                        let ask = (**ask).clone();
                        sheet.open.push((question, ask.clone(), Vec::from([ask])));
                    }
                    (Input::Asked { ask, .. }, Effect::Share { question, .. }) => {
                        let open = sheet.open.iter_mut().find(|(id, ..)| *id == question).unwrap();
                        prop_assert!(is_same(&open.1, ask), "another one's question");
                        open.2.push((**ask).clone());
                    }
                    (Input::Asked { ask, .. }, Effect::Deny { refusal, .. }) => {
                        prop_assert_eq!(refusal, Refusal::NoSession);
                        prop_assert_ne!(sheet.sessions.get(&ask.session), Some(&ask.principal));
                    }
                    (Input::Decided { question, answer, .. }, Effect::Allow { request, .. }) => {
                        let open = sheet.open.iter().find(|(id, ..)| id == question).unwrap();
                        prop_assert!(open.2.iter().any(|it| it.request == request));
                        if *answer == Answer::ForSession
                            && open.1.may_be_remembered()
                            && !promoted.contains(question)
                        {
                            sheet.said.push(Said { ask: open.1.clone(), at: sheet.now });
                        }
                    }
                    (_, Effect::TakeBack(question)) => {
                        sheet.open.retain(|(id, ..)| *id != question);
                    }
                    _ => {}
                }
            }
            if let Input::Decided { question, .. } = input {
                sheet.open.retain(|(id, ..)| *id != question);
            }
            prop_assert_eq!(state.questions(), sheet.open.len());
        }
    }
}
