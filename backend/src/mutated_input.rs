//! Tests every parser with mutated files and requests.
//!
//! A parser may accept or reject such an input, but must neither panic nor need more time or memory
//! than [`MOST_TIME`] and [`MOST_MEMORY`]. Each parser has an entry in [`PARSERS`]. In `cargo xtask
//! test` each parser is tested for a fraction of a second; `AXIOSCOPE_FUZZ_SECONDS` sets the number
//! of seconds, also for `cargo xtask regress`. `AXIOSCOPE_FUZZ_PARSERS` selects parsers by name,
//! separated by commas. Inputs are drawn from a seed, so that a longer run starts with those of a
//! shorter one. With `--nocapture`, the numbers of accepted and rejected inputs are printed for
//! each parser.

mod parsers;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parsers::PARSERS;
use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64;

/// Maximum time for one input, even in a debug build on a busy machine.
const MOST_TIME: Duration = Duration::from_secs(20);

/// Maximum memory of the process in bytes, with all parsers running.
const MOST_MEMORY: u64 = 3 << 30;

/// Maximum size of a mutated input in bytes.
const MOST_BYTES: usize = 1 << 20;

/// A parser with valid inputs.
struct Parser {
    /// The name of the parser, also used as a file name.
    name: &'static str,
    seeds: Seeds,
    /// Parses an input and returns whether it was accepted.
    takes: fn(&[u8]) -> bool,
}

/// Number of mutated inputs of a parser, and how many it accepted.
#[derive(Default)]
struct InputCounts {
    n_inputs: u64,
    n_taken: u64,
}

/// The valid inputs that are mutated.
enum Seeds {
    Texts(&'static [&'static str]),
    Made(fn() -> Vec<Vec<u8>>),
}

impl Seeds {
    fn inputs(&self) -> Vec<Vec<u8>> {
        match self {
            Seeds::Texts(texts) => texts.iter().map(|it| it.as_bytes().to_vec()).collect(),
            Seeds::Made(make) => make(),
        }
    }
}

#[test]
fn no_parser_panics_or_takes_more_than_its_bounds() {
    let seconds = std::env::var("AXIOSCOPE_FUZZ_SECONDS");
    let seconds = seconds.map_or(0.1, |it| it.parse::<f64>().expect("a number of seconds"));
    let time = Duration::from_secs_f64(seconds);
    let names = std::env::var("AXIOSCOPE_FUZZ_PARSERS").ok();
    let parsers = chosen_parsers(names.as_deref()).unwrap_or_else(|it| panic!("{it}"));
    // If an input aborts the process, it can be found here.
    let folder = std::env::temp_dir().join("axioscope-mutated-input");
    fs::create_dir_all(&folder).unwrap();
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(parser) = parsers.get(next.fetch_add(1, Ordering::Relaxed)) {
            match check(parser, time, &folder) {
                Ok(InputCounts { n_inputs, n_taken }) => println!(
                    "{}: {n_inputs} inputs, {n_taken} taken, {} refused",
                    parser.name,
                    n_inputs - n_taken
                ),
                Err(reason) => failures
                    .lock()
                    .unwrap()
                    .push(format!("{} {reason}", parser.name)),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Checks that damaged Parquet files are errors: the Parquet reader panics on some damaged pages.
#[test]
fn any_bit_of_a_parquet_file_may_be_flipped() {
    for name in ["instances-parquet", "scores-parquet"] {
        let parser = chosen_parsers(Some(name)).unwrap()[0];
        let whole = parser.seeds.inputs().remove(0);
        let mut n_refused = 0;
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            let taken = catch_unwind(AssertUnwindSafe(|| (parser.takes)(&damaged)));
            n_refused += usize::from(!taken.unwrap_or_else(|_| panic!("{name}: byte {at}")));
        }
        assert!(n_refused > 100, "{name}: {n_refused} of {}", whole.len());
    }
}

/// Returns the parsers with the given names, separated by commas, or all without names.
fn chosen_parsers(names: Option<&str>) -> Result<Vec<&'static Parser>, String> {
    let Some(names) = names else {
        return Ok(PARSERS.iter().collect());
    };
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let known: Vec<&str> = PARSERS.iter().map(|it| it.name).collect();
    if let Some(unknown) = names.iter().find(|it| !known.contains(it)) {
        let known = known.join(", ");
        return Err(format!(
            "AXIOSCOPE_FUZZ_PARSERS: there is no parser `{unknown}` among {known}"
        ));
    }
    let chosen = PARSERS.iter().filter(|it| names.contains(&it.name));
    Ok(chosen.collect())
}

#[test]
fn parsers_are_chosen_by_name() {
    let names = |given| {
        let chosen = chosen_parsers(given)?;
        Ok::<Vec<&str>, String>(chosen.iter().map(|it| it.name).collect())
    };
    assert_eq!(names(None).unwrap().len(), PARSERS.len());
    assert_eq!(
        names(Some("wnc, trec-run,wnc")).unwrap(),
        ["trec-run", "wnc"]
    );
    for unknown in ["wnc,trec", ""] {
        let error = names(Some(unknown)).unwrap_err();
        assert!(error.contains("trec-qrels, trec-run"), "{error}");
    }
}

/// Tests one parser for some time. Returns the number of inputs, or a message with the failing
/// input.
fn check(parser: &Parser, time: Duration, folder: &Path) -> Result<InputCounts, String> {
    let seeds = parser.seeds.inputs();
    for seed in &seeds {
        if !(parser.takes)(seed) {
            return Err(format!("refuses {:?}", String::from_utf8_lossy(seed)));
        }
    }
    let mut dice = Dice::of(parser.name);
    let (began, mut counts) = (Instant::now(), InputCounts::default());
    while counts.n_inputs == 0 || began.elapsed() < time {
        let input = mutate(&seeds, &mut dice);
        let kept = folder.join(parser.name);
        fs::write(&kept, &input).map_err(|it| it.to_string())?;
        let since = Instant::now();
        let ended = catch_unwind(AssertUnwindSafe(|| (parser.takes)(&input)));
        let what = match (&ended, since.elapsed(), peak_memory()) {
            (Err(_), ..) => "panics".to_owned(),
            (_, took, _) if took > MOST_TIME => format!("takes {took:?}"),
            (.., Some(peak)) if peak > MOST_MEMORY => format!("takes {} MB", peak >> 20),
            (Ok(is_taken), ..) => {
                counts.n_inputs += 1;
                counts.n_taken += u64::from(*is_taken);
                continue;
            }
        };
        let keep: PathBuf = folder.join(format!("{}.failed", parser.name));
        fs::rename(kept, &keep).map_err(|it| it.to_string())?;
        let n_before = counts.n_inputs;
        return Err(format!("{what} on input {n_before}, {}", keep.display()));
    }
    Ok(counts)
}

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|it| it.starts_with("VmHWM:"))?;
    let n_kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(n_kib << 10)
}

/// Random numbers from a seed.
struct Dice(Pcg64);

impl Dice {
    /// Creates a generator with a seed derived from a name.
    fn of(name: &str) -> Dice {
        let add = |sum: u64, it: u8| sum.wrapping_mul(31).wrapping_add(u64::from(it));
        Dice(Pcg64::seed_from_u64(name.bytes().fold(7, add)))
    }

    /// Returns a number from 0 to `n` - 1; 0 if `n` is 0.
    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n.max(1) as u64) as usize
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// Returns a range within `n` bytes, usually a short one.
    fn range(&mut self, n: usize) -> std::ops::Range<usize> {
        let from = self.below(n + 1);
        let most = match self.below(4) {
            0 => n,
            _ => 8,
        };
        from..(from + self.below(most + 1)).min(n)
    }
}

/// Bytes and words that parsers must handle.
const WORDS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\xf0\x9f\x8c\x8a",
    b"\r\n",
    b"\t",
    b"\"",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b"<",
    b"/../",
    b"#lnc2:3",
    b",",
    b":",
    b"=",
    b"@",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
];

/// Replacements for numbers.
const NUMBERS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"-0",
    b"1e999",
    b"1e-999",
    b"NaN",
    b"inf",
    b"65536",
    b"4294967296",
    b"1000000000",
    b"9223372036854775807",
    b"18446744073709551615",
    b"18446744073709551616",
];

/// Parts that are repeated many times, to nest deeply or to make long inputs.
const REPEATED: &[&[u8]] = &[
    b"[", b"(", b"{\"a\":", b"-", b"a", b"a ", b"\n", b"tfc1&", b"<top>",
];

/// Returns one of the seeds with one to four changes.
fn mutate(seeds: &[Vec<u8>], dice: &mut Dice) -> Vec<u8> {
    let mut input = dice.one(seeds).clone();
    for _ in 0..=dice.below(4) {
        change(&mut input, seeds, dice);
        input.truncate(MOST_BYTES);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], dice: &mut Dice) {
    let at = dice.below(input.len() + 1);
    match dice.below(10) {
        0 if at < input.len() => input[at] ^= 1u8 << dice.below(8),
        1 if at < input.len() => input[at] = dice.0.next_u64() as u8,
        2 => {
            let range = dice.range(input.len());
            input.drain(range);
        }
        3 => {
            let range = dice.range(input.len());
            let part = input[range].to_vec();
            input.splice(at..at, part);
        }
        4 | 5 => {
            let word = *dice.one(WORDS);
            input.splice(at..at, word.iter().copied());
        }
        6 | 7 => {
            let numbers = digits(input);
            if !numbers.is_empty() {
                let range = dice.one(&numbers).clone();
                let number = *dice.one(NUMBERS);
                input.splice(range, number.iter().copied());
            }
        }
        8 => {
            let other = dice.one(seeds);
            let from = dice.below(other.len() + 1);
            input.truncate(at);
            input.extend(&other[from..]);
        }
        _ => match dice.below(8) {
            0 => {
                let n_times = 1 << dice.below(18);
                let part = dice.one(REPEATED).repeat(n_times);
                input.splice(at..at, part);
            }
            _ => input.truncate(at),
        },
    }
}

/// Returns the ranges of the numbers in an input.
fn digits(input: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for (at, byte) in input.iter().enumerate() {
        match found.last_mut() {
            _ if !byte.is_ascii_digit() => {}
            Some(last) if last.end == at => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}
