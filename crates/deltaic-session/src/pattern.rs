//! The patterns of SHOW: `*` is any text, `|` separates alternatives, case does not matter.

/// Whether a name fits a pattern.
pub(crate) fn matches_pattern(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    pattern.trim().split('|').any(|alternative| {
        let alternative: Vec<char> = alternative.trim().to_lowercase().chars().collect();
        fits(&alternative, &name)
    })
}

fn fits(pattern: &[char], name: &[char]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some(('*', rest)) => (0..=name.len()).any(|skip| fits(rest, &name[skip..])),
        Some(('.', rest)) => name.split_first().is_some_and(|(_, tail)| fits(rest, tail)),
        Some((first, rest)) => name
            .split_first()
            .is_some_and(|(head, tail)| head == first && fits(rest, tail)),
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_is_any_text_and_a_bar_an_alternative() {
        assert!(matches_pattern("ord*", "orders"));
        assert!(matches_pattern("x|*ers", "Orders"));
        assert!(matches_pattern("*", ""));
        assert!(!matches_pattern("ord", "orders"));
    }
}
