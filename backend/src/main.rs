//! The program `axioscope`.

use std::process::ExitCode;

fn main() -> ExitCode {
    axioscope::run_program()
}
