//! A script on a store, beside the machines.

use everstep_machine::identity::{ConversationId, Timestamp};
use everstep_machine::ledger::Phase;
use everstep_machine::store::{Pipeline, Store, StoreFault};

use super::actor::Actor;
use super::acts::{Act, Handle, Line};
use super::coverage::Coverage;
use super::draw::Draw;
use super::facts;
use super::failing::{Plan, beginning};
use super::finding::{Check, Difference, Report};
use super::look::{Answer, compare, look, shown};
use super::reference::Reference;
use super::{Point, Subject};

/// When every script begins, in milliseconds since 1970.
const START: Timestamp = Timestamp(1_000_000_000);

/// A store with two handles, and what it has to be equal to.
pub(super) struct Trial<'a, S: Subject> {
    subject: &'a mut S,
    handles: [Option<S::Store>; 2],
    pub(super) reference: Reference,
    actors: [Actor; 2],
    last: Option<Pipeline>,
    /// How the disk is made to fail, and when.
    cuts: Option<(Plan, Draw)>,
    pub(super) coverage: Coverage,
    pub(super) tally: Report,
}

impl<'a, S: Subject> Trial<'a, S> {
    /// With a plan, the handles of the subject fail by it.
    pub(super) fn new(subject: &'a mut S, plan: Option<&Plan>) -> Self {
        subject.set_clock(START);
        let handles = [Some(subject.fresh()), Some(subject.reopen())];
        Self {
            subject,
            handles,
            reference: Reference::at(START),
            actors: [Actor::of(0), Actor::of(1)],
            last: None,
            cuts: plan.map(|plan| (plan.clone(), Draw::new(0))),
            coverage: Coverage::default(),
            tally: Report { scripts: 1, ..Report::default() },
        }
    }

    /// Plays a script to its end, and looks at everything after opening again.
    pub(super) fn run(&mut self, script: &[Line]) -> Result<(), Difference> {
        script.iter().try_for_each(|line| self.play(line))?;
        self.finish()
    }

    /// Opens both handles again, before anybody has looked through the one that wrote last: it
    /// might write then what it should have written before.
    fn finish(&mut self) -> Result<(), Difference> {
        self.restart()?;
        for (_, shelf) in self.reference.shelves() {
            let ended = shelf.rows().iter().filter(|row| matches!(row.phase, Phase::Settled(_)));
            self.tally.settled += ended.count();
            self.tally.batches += shelf.log().len();
        }
        Ok(())
    }

    pub(super) fn play(&mut self, line: &Line) -> Result<(), Difference> {
        match line {
            Line::Send { by, lane, acts } => {
                let pipeline = self.pipeline(*lane, acts);
                self.send(Check::Answers, *by, pipeline)
            }
            Line::Again { by } => match self.last.clone() {
                Some(pipeline) => self.send(Check::Repeats, *by, pipeline),
                None => Ok(()),
            },
            Line::Together { by, pipelines } => self.together(*by, pipelines),
            Line::Crash { by, lane, acts, at } => self.crash(*by, *lane, acts, *at),
            Line::Clock(by) => {
                let now = Timestamp(self.reference.now().0.saturating_add_signed(*by));
                self.subject.set_clock(now);
                self.reference.set_clock(now);
                Ok(())
            }
            Line::Reopen(by) => {
                self.handles[*by] = None;
                self.handles[*by] = Some(self.subject.reopen());
                self.look_at(Check::Reopening, *by, &lanes())
            }
            Line::Restart => self.restart(),
        }
    }

    fn restart(&mut self) -> Result<(), Difference> {
        self.handles = [None, None];
        self.handles = [Some(self.subject.reopen()), Some(self.subject.reopen())];
        self.look_through(Check::Reopening)
    }

    /// Both handles show everything, and so does whatever else the store can be asked.
    fn look_through(&mut self, check: Check) -> Result<(), Difference> {
        (0..self.handles.len()).try_for_each(|by| self.look_at(check, by, &lanes()))?;
        self.subject.inspect(&self.reference).map_err(|found| Difference {
            check: Check::Inspection,
            expected: "what the machines say".into(),
            found,
        })
    }

    fn look_at(
        &mut self,
        check: Check,
        by: Handle,
        lanes: &[ConversationId],
    ) -> Result<(), Difference> {
        match &mut self.handles[by] {
            Some(store) => look(check, store, &mut self.reference, lanes),
            None => Ok(()),
        }
    }

    /// Chooses the commands one after the other, each in the state that those before it lead to.
    pub(super) fn pipeline(&mut self, lane: u8, acts: &[Act]) -> Pipeline {
        let name = facts::lane(lane);
        let mut memory = self.reference.clone();
        let actor = &mut self.actors[usize::from(lane)];
        let commands = acts.iter().filter_map(|act| {
            let command = actor.command(act, memory.shelf(&name))?;
            if let Ok(reply) = memory.one(&name, &command) {
                actor.learn(&command, &reply);
            }
            Some(command)
        });
        let commands = commands.collect();
        Pipeline { lane: name, commands }
    }

    fn execute(&mut self, by: Handle, pipeline: &Pipeline) -> (Answer, Answer) {
        let expected = self.expect(pipeline);
        let found = match &mut self.handles[by] {
            Some(store) => store.execute(pipeline),
            None => expected.clone(),
        };
        (expected, found)
    }

    fn expect(&mut self, pipeline: &Pipeline) -> Answer {
        let expected = self.reference.execute(pipeline);
        self.coverage.note(&pipeline.commands, &expected);
        self.tally.pipelines += 1;
        self.tally.refusals += usize::from(expected.is_err());
        expected
    }

    /// A beginning of the pipeline takes effect, and nobody is told.
    fn lose(&mut self, by: Handle, pipeline: &Pipeline) -> Result<(), Difference> {
        let (Some((plan, draw)), Some(store)) = (&mut self.cuts, &mut self.handles[by]) else {
            return Ok(());
        };
        let most = i64::try_from(pipeline.commands.len()).unwrap_or(i64::MAX);
        // One in so many is not cut off at all.
        let Ok(done) = usize::try_from(draw.between(-1, most)) else { return Ok(()) };
        plan.fail_after(done);
        let found = store.execute(pipeline);
        let _lost = self.reference.execute(&beginning(pipeline, done));
        self.tally.lost += 1;
        compare(Check::Failures, &Err(StoreFault::Indeterminate), &found)
    }

    fn send(&mut self, check: Check, by: Handle, pipeline: Pipeline) -> Result<(), Difference> {
        self.lose(by, &pipeline)?;
        let check = if self.cuts.is_some() { Check::Failures } else { check };
        let (expected, found) = self.execute(by, &pipeline);
        compare(check, &expected, &found)?;
        let lane = pipeline.lane.clone();
        self.last = Some(pipeline);
        self.look_at(Check::Handles, 1 - by, &[lane])
    }

    /// What each is answered does not depend on who else waits.
    fn together(&mut self, by: Handle, waiting: &[(u8, Vec<Act>)]) -> Result<(), Difference> {
        let (mut pipelines, mut expected) = (Vec::new(), Vec::new());
        for (lane, acts) in waiting {
            let pipeline = self.pipeline(*lane, acts);
            expected.push(self.expect(&pipeline));
            pipelines.push(pipeline);
        }
        let mut answers = Vec::new();
        if let Some(store) = &mut self.handles[by] {
            store.execute_all(&pipelines, &mut |answer| answers.push(answer));
        }
        if expected.len() != answers.len() {
            let told = |answers: &[Answer]| format!("{} answers", answers.len());
            let (expected, found) = (told(&expected), told(&answers));
            return Err(Difference { check: Check::Together, expected, found });
        }
        for (expected, found) in expected.iter().zip(&answers) {
            compare(Check::Together, expected, found)?;
        }
        self.look_at(Check::Handles, 1 - by, &lanes())
    }

    /// The process dies at the failpoint with this number, or is not reached by it.
    fn crash(&mut self, by: Handle, lane: u8, acts: &[Act], at: usize) -> Result<(), Difference> {
        let pipeline = self.pipeline(lane, acts);
        let accepted = self.accepted(&pipeline);
        // Two a command, but no `after` of a refused one.
        let points = 2 * accepted + usize::from(accepted < pipeline.commands.len());
        let Some(store) = self.handles[by].take_if(|_| at < points) else {
            return self.send(Check::Answers, by, pipeline);
        };
        let point = Point { command: at / 2, done: at % 2 == 1 };
        let left = self.subject.crash(store, &pipeline, point);
        self.tally.crashes += 1;
        self.handles[by] = Some(self.subject.reopen());
        self.adopt(by, &pipeline, left.clone().filter(|done| *done <= accepted)).map_err(
            |last| {
                let expected = format!("{left:?} commands of {}", shown(&pipeline));
                Difference { check: Check::Crashes, expected, found: last.found }
            },
        )?;
        self.look_through(Check::Crashes)
    }

    /// Finds out how many commands of a pipeline have survived.
    fn adopt(
        &mut self,
        by: Handle,
        pipeline: &Pipeline,
        left: impl Iterator<Item = usize>,
    ) -> Result<(), Difference> {
        let before = self.reference.clone();
        let mut last = Difference {
            check: Check::Crashes,
            expected: String::new(),
            found: "a crash that leaves nothing that the machines accept".into(),
        };
        for done in left {
            self.reference = before.clone();
            for command in &pipeline.commands[..done] {
                let _accepted = self.reference.one(&pipeline.lane, command);
            }
            match self.look_at(Check::Crashes, by, std::slice::from_ref(&pipeline.lane)) {
                Ok(()) => return Ok(()),
                Err(difference) => last = difference,
            }
        }
        Err(last)
    }

    /// How many of the commands are accepted before one is refused.
    fn accepted(&self, pipeline: &Pipeline) -> usize {
        let mut memory = self.reference.clone();
        let accepted = |it: &&_| memory.one(&pipeline.lane, it).is_ok();
        pipeline.commands.iter().take_while(accepted).count()
    }

    /// Both handles, for a race.
    pub(super) fn take(&mut self) -> Option<[S::Store; 2]> {
        let [first, second] = &mut self.handles;
        Some([first.take()?, second.take()?])
    }

    /// What the race has left is looked at with these.
    pub(super) fn put(&mut self, handles: [S::Store; 2]) {
        self.handles = handles.map(Some);
    }

    /// The handles, looked at as this reference says.
    pub(super) fn is_equal_to(&mut self, reference: Reference) -> Result<(), Difference> {
        self.reference = reference;
        (0..self.handles.len()).try_for_each(|by| self.look_at(Check::Races, by, &lanes()))
    }
}

fn lanes() -> [ConversationId; 2] {
    [facts::lane(0), facts::lane(1)]
}
