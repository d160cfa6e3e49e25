//! The grammar of what is kept beside a database: backups and exports.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::operator::Word;

const BACKUP_HELP: &str = "\
Examples:
  everstep backup monday.backup                      of everstep.db, also while a host works on it
  everstep backup /mnt/spare/shop.backup --db shop.db

Exit codes:
  0  the backup is made: read back, verified and on the disk
  1  the database does not verify; no backup of it is made
  2  something has that name already, or the command is wrong
  3  the environment failed: the database cannot be read, the backup cannot be written";

/// What `everstep backup` is asked.
#[derive(Args, Debug)]
#[command(after_help = BACKUP_HELP)]
pub(crate) struct Backup {
    /// The file to make; nothing is overwritten
    pub(crate) out: PathBuf,
    /// The database
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

const RESTORE_HELP: &str = "\
Examples:
  everstep restore monday.backup                     makes everstep.db
  everstep restore monday.backup --db shop.db --abort-unsettled --reason 'lost since monday'

Exit codes:
  0  the database is made: verified and on the disk
  1  the backup does not verify; nothing is made of it
  2  something has that name already, the file is no backup, or the command is wrong
  3  the environment failed: the backup cannot be read, the database cannot be written";

/// What `everstep restore` is asked.
#[derive(Args, Debug)]
#[command(after_help = RESTORE_HELP)]
pub(crate) struct Restore {
    /// The backup
    pub(crate) backup: PathBuf,
    /// The database to make; nothing is overwritten
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
    /// Ask for the end of every submission that is not settled in the backup, so that nothing that
    /// it did since is done again
    #[arg(long)]
    pub(crate) abort_unsettled: bool,
    /// Who says so, and why
    #[command(flatten)]
    pub(crate) word: Word,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

const EXPORT_HELP: &str = "\
Examples:
  everstep log export > everything.jsonl
  everstep log export run-3f1c --db shop.db > one.jsonl";

/// What `everstep log export` is asked.
#[derive(Args, Debug)]
#[command(after_help = EXPORT_HELP)]
pub(crate) struct Export {
    /// Its name, or the beginning of the names of several; without it all of them
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) conversation: Option<String>,
    /// The database
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
}

const IMPORT_HELP: &str = "\
Examples:
  everstep log import everything.jsonl --db new.db
  everstep log import one.jsonl                      again: it is there already";

/// What `everstep log import` is asked.
#[derive(Args, Debug)]
#[command(after_help = IMPORT_HELP)]
pub(crate) struct Import {
    /// The exported file
    pub(crate) file: PathBuf,
    /// The database; created if it is not there
    #[arg(long, value_name = "FILE", default_value = "everstep.db")]
    pub(crate) db: PathBuf,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}
