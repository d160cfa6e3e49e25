//! The lines of an exported file: JSON, one value a line, each spelled in one way only.

use std::collections::BTreeMap;
use std::io::{BufRead, Read as _};
use std::sync::Arc;

use everstep_machine::digest::{Digest, Hasher};
use everstep_machine::identity::{ConversationId, Epoch, ProducerId, Sequence, Timestamp};
use everstep_machine::ledger::{Lane, Row};
use everstep_machine::record::{Batch, Envelope, Record, SCHEMA_VERSION, StoredBatch};
use everstep_sqlite::{Exported, Format};
use serde::{Deserialize, Serialize};

/// The version of the lines themselves.
const VERSION: u16 = 2;

/// Bytes of the longest line: the largest batch, with every letter of it escaped.
const LINE_BYTES: u64 = 96 << 20;

/// One line.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    Header(Header),
    /// Begins a conversation.
    Lane(Lane),
    Row(Row),
    Batch(Written),
    /// All of a result that a record names, behind the batches.
    Artifact(Held),
    /// Ends it.
    End(End),
    /// Ends the file.
    Trailer(Trailer),
}

#[derive(Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    version: u16,
    /// The layout of records.
    records: u16,
    /// The layout of lanes and rows.
    rows: u16,
}

impl Header {
    fn current() -> Self {
        let Format { cells, .. } = Format::CURRENT;
        let format = "everstep log".to_owned();
        Self { format, version: VERSION, records: SCHEMA_VERSION, rows: cells }
    }
}

/// A batch as it was committed. What can be computed of it is here too, to be compared.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Written {
    first_sequence: Sequence,
    epoch: Epoch,
    producer: ProducerId,
    committed_at: Timestamp,
    previous: Digest,
    content: Digest,
    chain: Digest,
    records: Vec<Record>,
}

/// An artifact. What it holds is JSON, and stands here as a text.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Held {
    digest: Digest,
    text: String,
}

#[derive(Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct End {
    conversation: ConversationId,
    rows: u64,
    batches: u64,
    artifacts: u64,
}

#[derive(Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    conversations: u64,
    lines: u64,
    /// Of every line before this one.
    digest: Digest,
}

/// What the lines so far come to.
struct Sum {
    hasher: Hasher,
    lines: u64,
    conversations: u64,
}

impl Sum {
    fn new() -> Self {
        Self { hasher: Hasher::new("everstep/export"), lines: 0, conversations: 0 }
    }

    fn add(&mut self, line: &str) {
        self.hasher = self.hasher.clone().bytes(line.as_bytes());
        self.lines += 1;
    }

    fn trailer(&self) -> Trailer {
        let digest = self.hasher.clone().digest();
        Trailer { conversations: self.conversations, lines: self.lines, digest }
    }
}

/// Writes lines.
pub(super) struct Writer<W> {
    out: W,
    sum: Sum,
    rows: u64,
    batches: u64,
    artifacts: u64,
}

impl<W: std::io::Write> Writer<W> {
    pub(super) fn begin(out: W) -> std::io::Result<Self> {
        let mut it = Self { out, sum: Sum::new(), rows: 0, batches: 0, artifacts: 0 };
        it.line(&Line::Header(Header::current()))?;
        Ok(it)
    }

    fn line(&mut self, line: &Line) -> std::io::Result<()> {
        let text = serde_json::to_string(line)?;
        self.sum.add(&text);
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")
    }

    pub(super) fn lane(&mut self, lane: &Lane) -> std::io::Result<()> {
        (self.rows, self.batches, self.artifacts) = (0, 0, 0);
        self.line(&Line::Lane(lane.clone()))
    }

    pub(super) fn row(&mut self, row: &Row) -> std::io::Result<()> {
        self.rows += 1;
        self.line(&Line::Row(row.clone()))
    }

    pub(super) fn batch(&mut self, batch: &StoredBatch) -> std::io::Result<()> {
        self.batches += 1;
        let Envelope { conversation: _, first_sequence, epoch, producer, committed_at, previous } =
            batch.envelope().clone();
        let (content, chain) = (batch.batch().content(), batch.chain());
        let records = batch.batch().records().to_vec();
        self.line(&Line::Batch(Written {
            first_sequence,
            epoch,
            producer,
            committed_at,
            previous,
            content,
            chain,
            records,
        }))
    }

    pub(super) fn artifact(&mut self, digest: Digest, bytes: &[u8]) -> std::io::Result<()> {
        self.artifacts += 1;
        let text = std::str::from_utf8(bytes).map_err(std::io::Error::other)?.to_owned();
        self.line(&Line::Artifact(Held { digest, text }))
    }

    pub(super) fn end(&mut self, conversation: &ConversationId) -> std::io::Result<()> {
        let Self { rows, batches, artifacts, .. } = *self;
        let conversation = conversation.clone();
        self.line(&Line::End(End { conversation, rows, batches, artifacts }))?;
        self.sum.conversations += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> std::io::Result<()> {
        let trailer = self.sum.trailer();
        self.line(&Line::Trailer(trailer))?;
        self.out.flush()
    }
}

/// Why a file is not read, and in which line.
pub(super) enum Unread {
    /// It cannot be read.
    Io(std::io::Error),
    /// It is not what was written.
    Wrong(u64, String),
    /// It was written by another build.
    Version(String),
}

/// Reads a file, and gives every conversation of it to `each`; which is given nothing of a
/// conversation that is not there to its end.
pub(super) fn read<E>(
    mut file: impl BufRead,
    mut each: impl FnMut(Exported) -> Result<(), E>,
) -> Result<Result<u64, E>, Unread> {
    let mut sum = Sum::new();
    let mut open: Option<Exported> = None;
    loop {
        let at = sum.lines + 1;
        let wrong = |why: &str| Unread::Wrong(at, why.to_owned());
        let Some(text) = line(&mut file, at)? else {
            return Err(wrong("the file ends before its trailer: it is not whole"));
        };
        if at == 1 {
            header(&text)?;
            sum.add(&text);
            continue;
        }
        let read: Line = serde_json::from_str(&text)
            .map_err(|why| Unread::Wrong(at, format!("this is no line of an export: {why}")))?;
        if serde_json::to_string(&read).is_ok_and(|again| again != text) {
            return Err(wrong("the line is not spelled as it is written"));
        }
        match (read, &mut open) {
            (Line::Lane(lane), None) => {
                let (rows, batches, artifacts) = (Vec::new(), Vec::new(), BTreeMap::new());
                open = Some(Exported { lane, rows, batches, artifacts });
            }
            (Line::Row(row), Some(it)) if it.batches.is_empty() => it.rows.push(Arc::new(row)),
            (Line::Artifact(held), Some(it)) if !it.artifacts.contains_key(&held.digest) => {
                it.artifacts.insert(held.digest, held.text.into_bytes());
            }
            (Line::Batch(batch), Some(it)) if it.artifacts.is_empty() => {
                let batch = stored(&it.lane.conversation, batch);
                it.batches.push(batch.map_err(|why| Unread::Wrong(at, why))?);
            }
            (Line::End(end), Some(it)) => {
                let (rows, batches) = (it.rows.len() as u64, it.batches.len() as u64);
                let artifacts = it.artifacts.len() as u64;
                let conversation = it.lane.conversation.clone();
                if end != (End { conversation, rows, batches, artifacts }) {
                    return Err(wrong("the conversation does not end where it says"));
                }
                it.check().map_err(|why| Unread::Wrong(at, why.to_string()))?;
                sum.conversations += 1;
                if let Some(Err(why)) = open.take().map(&mut each) {
                    return Ok(Err(why));
                }
            }
            (Line::Trailer(trailer), None) => {
                if trailer != sum.trailer() {
                    return Err(wrong("the file is not what was written: its digest differs"));
                }
                return match line(&mut file, at + 1)? {
                    Some(_) => {
                        Err(Unread::Wrong(at + 1, "nothing comes behind the trailer".into()))
                    }
                    None => Ok(Ok(sum.conversations)),
                };
            }
            (_, None | Some(_)) => return Err(wrong("the line does not belong here")),
        }
        sum.add(&text);
    }
}

/// The next line, without its end; none at the end of the file.
fn line(file: &mut impl BufRead, at: u64) -> Result<Option<String>, Unread> {
    let mut bytes = Vec::new();
    file.take(LINE_BYTES).read_until(b'\n', &mut bytes).map_err(Unread::Io)?;
    let is_whole = bytes.pop_if(|byte| *byte == b'\n').is_some();
    if bytes.is_empty() && !is_whole {
        return Ok(None);
    }
    if !is_whole {
        let why = "the line has no end: the file is not whole, or is no export";
        return Err(Unread::Wrong(at, why.to_owned()));
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| Unread::Wrong(at, "the line is not UTF-8".to_owned()))
}

fn header(text: &str) -> Result<(), Unread> {
    let no_export = || Unread::Wrong(1, "this is no export of a log".to_owned());
    match serde_json::from_str(text).map_err(|_| no_export())? {
        Line::Header(header) if header.format != Header::current().format => Err(no_export()),
        Line::Header(header) if header != Header::current() => {
            let [found, own] = [&header, &Header::current()]
                .map(|it| format!("{}.{}.{}", it.version, it.rows, it.records));
            Err(Unread::Version(format!("its format is {found}, this build's is {own}")))
        }
        Line::Header(_) => Ok(()),
        Line::Lane(_)
        | Line::Row(_)
        | Line::Batch(_)
        | Line::Artifact(_)
        | Line::End(_)
        | Line::Trailer(_) => Err(no_export()),
    }
}

/// The batch, if it is the one whose digests it carries.
fn stored(conversation: &ConversationId, it: Written) -> Result<StoredBatch, String> {
    let batch = Batch::new(conversation, it.records).map_err(|why| why.to_string())?;
    let envelope = Envelope {
        conversation: conversation.clone(),
        first_sequence: it.first_sequence,
        epoch: it.epoch,
        producer: it.producer,
        committed_at: it.committed_at,
        previous: it.previous,
    };
    let stored = StoredBatch::commit(envelope, batch);
    if (stored.batch().content(), stored.chain()) == (it.content, it.chain) {
        Ok(stored)
    } else {
        Err(format!(
            "the batch at sequence {} has not the digests that it carries",
            it.first_sequence
        ))
    }
}
