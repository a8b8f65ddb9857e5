//! `deltaic sql`: where the statements come from, and what happens after each.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

use deltaic_protocol::error::{DeltaError, ErrorKind};
use deltaic_session::{ShowOptions, SqlResult};

use crate::arguments::{Common, Output, Sql};
use crate::engine::{Engine, Parameters};
use crate::failure::{self, EXPECTED_ERROR_MISSING, Failed};
use crate::output::{self, Printer};
use crate::progress::Progress;
use crate::script::{self, Step};
use crate::{pipe, prompt, terminal};

/// Run the command.
pub async fn run(common: &Common, options: Sql) -> Result<(), Failed> {
    let engine = Engine::open(common)?;
    let outcome = statements(&engine, common, options).await;
    engine.close().await;
    outcome
}

async fn statements(engine: &Engine, common: &Common, options: Sql) -> Result<(), Failed> {
    if options.pipe {
        return pipe::run(engine).await;
    }
    let show = ShowOptions {
        rows: options.rows,
        truncate: options.truncate,
        vertical: options.vertical,
    };
    let printer = Printer {
        output: common.output,
        show,
    };
    let progress = Progress::new(common.quiet);
    let mut parameters = Parameters::default();
    for (name, value) in &options.parameters {
        parameters.set_text(name, value);
    }
    let direct = [options.statements.as_slice(), options.execute.as_slice()].concat();
    let steps = if !direct.is_empty() {
        let mut steps = Vec::new();
        for text in &direct {
            steps.extend(script::steps(text));
        }
        steps
    } else if let Some(file) = &options.file {
        script::steps(&read(file)?)
    } else if terminal::input_is_terminal() {
        return prompt::run(engine, &mut parameters, printer, &progress).await;
    } else {
        script::steps(&read(Path::new("-"))?)
    };
    let echo = options.file.is_some() && !common.quiet;
    let run = Run {
        engine,
        printer,
        progress,
        echo,
        keep_going: options.keep_going,
    };
    run.script(&steps, parameters).await
}

fn read(file: &Path) -> Result<String, Failed> {
    let mut text = String::new();
    let outcome = if file == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).map(|_| ())
    } else {
        std::fs::read_to_string(file).map(|content| text = content)
    };
    outcome.map_err(|error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            ErrorKind::NotFound
        } else {
            ErrorKind::Storage
        };
        let error = DeltaError::unclassed(
            "java.io.IOException",
            format!("cannot read the script: {error}"),
        )
        .with_path(file.to_string_lossy())
        .with_kind(kind)
        .with_hint("the file must be there and hold UTF-8 text");
        Failed::Error(error)
    })?;
    Ok(text)
}

struct Run<'a> {
    engine: &'a Engine,
    printer: Printer,
    progress: Progress,
    /// Print each statement before it runs.
    echo: bool,
    keep_going: bool,
}

impl Run<'_> {
    /// Run the steps in order; the first unexpected outcome decides the exit status.
    async fn script(&self, steps: &[Step], mut parameters: Parameters) -> Result<(), Failed> {
        let mut status = None;
        let given = parameters.names();
        for (n, step) in steps.iter().enumerate() {
            let ended = self
                .step(step, (n, steps.len()), &mut parameters, &given)
                .await?;
            if let Some(code) = ended {
                status = status.or(Some(code));
                if !self.keep_going || code == ErrorKind::Cancelled.exit_code() {
                    break;
                }
            }
        }
        status.map_or(Ok(()), |code| Err(Failed::Printed(code)))
    }

    /// The exit status that the step calls for, if it did not go as it should.
    async fn step(
        &self,
        step: &Step,
        (n, all): (usize, usize),
        parameters: &mut Parameters,
        given: &BTreeSet<String>,
    ) -> Result<Option<u8>, Failed> {
        // What the command line gave holds against the script.
        for (name, value) in &step.parameters {
            if !given.contains(name) {
                parameters.set_text(name, value);
            }
        }
        if self.echo {
            self.printer.statement(&step.sql)?;
        }
        let progress = if all > 1 {
            self.progress.of_step(n, all)
        } else {
            self.progress.clone()
        };
        let outcome = progress
            .watch(
                &step.sql,
                self.engine.sql_or_interrupt(&step.sql, parameters),
            )
            .await;
        let code = match (outcome, &step.expected_error) {
            (Ok(answer), None) => {
                self.printer.answer(&answer)?;
                match keep(step, &answer, parameters) {
                    Ok(()) => None,
                    Err(error) => Some(self.unexpected(&error)?),
                }
            }
            (Ok(answer), Some(class)) => {
                self.printer.answer(&answer)?;
                terminal::complain(&format!(
                    "error: the script expects error {class} here, and it did not come\n"
                ));
                Some(EXPECTED_ERROR_MISSING)
            }
            (Err(error), Some(class)) if script::is_expected(&error, class) => {
                self.expected(&error)?;
                None
            }
            (Err(error), _) => Some(self.unexpected(&error)?),
        };
        if self.echo && self.printer.output == Output::Table {
            terminal::print("\n")?;
        }
        Ok(code)
    }

    /// An expected error belongs to the answers.
    fn expected(&self, error: &DeltaError) -> Result<(), Failed> {
        match self.printer.output {
            Output::Json => output::print_error(error, Output::Json),
            Output::Table => terminal::print(&format!("expected {}", failure::text(error))),
        }
    }

    /// Print the error and give its exit status.
    fn unexpected(&self, error: &DeltaError) -> Result<u8, Failed> {
        output::print_error(error, self.printer.output)?;
        Ok(error.kind().exit_code())
    }
}

/// Take parameters from the first row of an answer.
fn keep(step: &Step, answer: &SqlResult, parameters: &mut Parameters) -> Result<(), DeltaError> {
    let json = answer.to_json_pipe();
    for (name, column) in &step.keeps {
        let at = answer
            .schema
            .fields
            .iter()
            .position(|field| field.name.eq_ignore_ascii_case(column));
        let value = at.and_then(|at| json.pointer(&format!("/rows/0/{at}")));
        let Some(value) = value else {
            let text = format!("there is no first row with a column {column} to keep as :{name}");
            return Err(
                DeltaError::unclassed("java.lang.IllegalArgumentException", text)
                    .with_kind(ErrorKind::Analysis),
            );
        };
        parameters.set(name, value.clone());
    }
    Ok(())
}
