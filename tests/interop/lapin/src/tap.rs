//! What makes the program a client of run.py: tests with a sentence as their name, and lines that
//! say how they went.

use std::{env, error::Error, fmt, future::Future, panic::Location, pin::Pin, time::Duration};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    time::timeout,
};

/// Why a test did not pass, and where that was found.
pub enum Outcome {
    Failed(String),
    Skipped(String),
}

pub type Result<T = ()> = std::result::Result<T, Outcome>;

impl<E: Error> From<E> for Outcome {
    #[track_caller]
    fn from(error: E) -> Self {
        Outcome::Failed(format!("{error} (line {})", Location::caller().line()))
    }
}

#[track_caller]
pub fn equal<T: PartialEq<U> + fmt::Debug, U: fmt::Debug>(got: T, expected: U) -> Result {
    check(got == expected, || format!("got {got:?}, expected {expected:?}"))
}

#[track_caller]
pub fn contains(text: &str, part: &str) -> Result {
    check(text.contains(part), || format!("'{text}' does not contain '{part}'"))
}

#[track_caller]
pub fn check(holds: bool, why: impl FnOnce() -> String) -> Result {
    let line = Location::caller().line();
    if holds { Ok(()) } else { Err(Outcome::Failed(format!("{} (line {line})", why()))) }
}

/// What the future gives, within 10 s.
pub async fn soon<T>(future: impl Future<Output = T>) -> Result<T> {
    match timeout(Duration::from_secs(10), future).await {
        Ok(value) => Ok(value),
        Err(_) => Err(Outcome::Failed("nothing came for 10 s".into())),
    }
}

/// Has run.py end the broker with SIGTERM and start it again; it is ready afterwards.
pub async fn restart_broker() -> Result {
    let Ok(control) = env::var("BATON_CONTROL") else {
        return Err(Outcome::Skipped("nobody here can restart the broker".into()));
    };
    let mut runner = TcpStream::connect(control).await?;
    runner.write_all(b"restart\n").await?;
    let mut answer = String::new();
    BufReader::new(runner).read_line(&mut answer).await?;
    equal(answer.trim(), "ok")
}

type Test = (&'static str, Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result>>>>);

#[derive(Default)]
pub struct Tests(Vec<Test>);

impl Tests {
    /// Adds a test; it fails with any error, or after 90 s.
    pub fn add<F: Future<Output = Result> + 'static>(&mut self, name: &'static str, run: fn() -> F) {
        self.0.push((name, Box::new(move || Box::pin(run()))));
    }

    /// Runs all tests, or those whose name contains the first argument; true if none failed.
    pub async fn run(self) -> bool {
        let wanted = env::args().nth(1).unwrap_or_default();
        let (mut total, mut failed) = (0, 0);
        for (name, run) in self.0.into_iter().filter(|(name, _)| name.contains(&wanted)) {
            total += 1;
            match timeout(Duration::from_secs(90), run()).await {
                Ok(Ok(())) => println!("ok {name}"),
                Ok(Err(Outcome::Skipped(why))) => println!("skip {name}: {why}"),
                Ok(Err(Outcome::Failed(why))) => {
                    failed += 1;
                    println!("not ok {name}: {}", why.split_whitespace().collect::<Vec<_>>().join(" "));
                }
                Err(_) => {
                    failed += 1;
                    println!("not ok {name}: it took too long");
                }
            }
        }
        println!("1..{total}");
        failed == 0
    }
}
