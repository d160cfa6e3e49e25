//! `everstep`: the command line.
//!
//! A command computes a verdict, prints it to standard output and ends with a code that a
//! pipeline understands ([`exit::Exit`]). Complaints go to standard error. Nothing is decided
//! here: the rules live in the machines, the searches in the simulator.

mod args;
mod asked;
mod bindings;
mod check;
mod copies;
mod database;
mod doctor;
mod exit;
mod listing;
mod load;
mod log;
mod matrix;
mod output;
mod progress;
mod records;
mod replay;
mod run;
mod sessions;
mod state;
mod submissions;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::{Complaint, Exit};

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Matrix(args) => matrix::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Submissions(args) => submissions::run(&args),
        Command::Log(args) => log::run(&args),
        Command::Sessions(args) => sessions::run(&args),
        Command::State(args) => state::run(&args),
        Command::Backup(args) => copies::backup(&args),
        Command::Restore(args) => copies::restore(&args),
    };
    let exit = result.unwrap_or_else(|complaint: Complaint| {
        output::complain(&complaint.text);
        complaint.exit
    });
    ExitCode::from(Exit::code(exit))
}
