//! Licences of all dependencies against the list of those we accept. An SPDX expression is accepted when the licences
//! that we accept satisfy it.

use crate::metadata::Metadata;
use crate::shell::Outcome;

/// Licences that let anyone ship the binary under MIT or Apache-2.0.
const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Packages whose manifest names a licence file instead of an expression, read by a person: (name, licence).
const READ_BY_HAND: &[(&str, &str)] = &[];

/// Check every package that is not ours.
pub fn check(metadata: &Metadata) -> Outcome {
    let mut wrong = Vec::new();
    let mut count = 0;
    for package in metadata.others() {
        count += 1;
        let by_hand = READ_BY_HAND
            .iter()
            .find(|(name, _)| *name == package.name)
            .map(|(_, licence)| *licence);
        match package.license.as_deref().or(by_hand) {
            Some(text) => match satisfied(text) {
                Ok(true) => {}
                Ok(false) => wrong.push(format!("{} {}: {text}", package.name, package.version)),
                Err(reason) => wrong.push(format!(
                    "{} {}: {text}: {reason}",
                    package.name, package.version
                )),
            },
            None => {
                let file = package
                    .license_file
                    .as_deref()
                    .unwrap_or("no licence at all");
                wrong.push(format!("{} {}: {file}", package.name, package.version));
            }
        }
    }
    println!("   {count} packages");
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "licences not on the list:\n  {}",
            wrong.join("\n  ")
        ))
    }
}

/// Is the expression satisfied by accepted licences? `AND` binds tighter than `OR`, and the old form `A/B` means `OR`.
fn satisfied(expression: &str) -> Result<bool, String> {
    let text = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        at: 0,
    };
    let answer = parser.either()?;
    if parser.at == words.len() {
        Ok(answer)
    } else {
        Err(format!("unexpected {:?}", words[parser.at]))
    }
}

struct Parser<'a> {
    words: &'a [&'a str],
    at: usize,
}

impl Parser<'_> {
    fn either(&mut self) -> Result<bool, String> {
        let mut answer = self.both()?;
        while self.take("OR") {
            answer |= self.both()?;
        }
        Ok(answer)
    }

    fn both(&mut self) -> Result<bool, String> {
        let mut answer = self.one()?;
        while self.take("AND") {
            answer &= self.one()?;
        }
        Ok(answer)
    }

    fn one(&mut self) -> Result<bool, String> {
        if self.take("(") {
            let answer = self.either()?;
            return if self.take(")") {
                Ok(answer)
            } else {
                Err("a parenthesis is open".into())
            };
        }
        let word = self.words.get(self.at).ok_or("the expression ends early")?;
        self.at += 1;
        if self.take("WITH") {
            let exception = self.words.get(self.at).ok_or("WITH names no exception")?;
            self.at += 1;
            return Ok(ACCEPTED.contains(&format!("{word} WITH {exception}").as_str()));
        }
        Ok(ACCEPTED.contains(word))
    }

    fn take(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::satisfied;

    #[test]
    fn an_expression_is_satisfied_by_one_side_of_or_and_both_sides_of_and() {
        assert_eq!(satisfied("MIT OR GPL-3.0"), Ok(true));
        assert_eq!(satisfied("MIT AND GPL-3.0"), Ok(false));
        assert_eq!(satisfied("GPL-3.0/Apache-2.0"), Ok(true));
        assert_eq!(satisfied("(MIT OR GPL-3.0) AND Unicode-3.0"), Ok(true));
        assert_eq!(
            satisfied("Apache-2.0 WITH LLVM-exception OR GPL-2.0"),
            Ok(true)
        );
        assert_eq!(satisfied("GPL-2.0 WITH Classpath-exception-2.0"), Ok(false));
        assert!(satisfied("(MIT").is_err());
    }
}
