//! A text with its undo history.

/// A text that can be undone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextUndoHistory {
    original: String,
    past: Vec<String>,
    current: String,
    future: Vec<String>,
    /// The time of the last keystroke, in milliseconds; none after any other change.
    last_key_ms: Option<f64>,
}

impl TextUndoHistory {
    /// The maximum number of steps in the history.
    const MAX_STEPS: usize = 100;

    /// Keystrokes with a shorter pause between them form one step, in milliseconds.
    const TYPING_PAUSE_MS: f64 = 1000.0;

    /// Creates a history with the text as it was opened.
    pub(crate) fn new(text: String) -> TextUndoHistory {
        let (past, future) = (Vec::new(), Vec::new());
        TextUndoHistory {
            original: text.clone(),
            past,
            current: text,
            future,
            last_key_ms: None,
        }
    }

    /// Returns the current text, after all edits and undone steps.
    pub(crate) fn current_text(&self) -> &str {
        &self.current
    }

    /// Returns the text as it was opened.
    pub(crate) fn original_text(&self) -> &str {
        &self.original
    }

    /// Records the text after a keystroke at a time in milliseconds.
    pub(crate) fn record_typing(&mut self, text: String, at: f64) {
        let goes_on = self
            .last_key_ms
            .is_some_and(|it| at - it < Self::TYPING_PAUSE_MS);
        if goes_on {
            self.future.clear();
            self.current = text;
        } else {
            self.record_button_edit(text);
        }
        self.last_key_ms = Some(at);
    }

    /// Records the text after an edit by a button.
    pub(crate) fn record_button_edit(&mut self, text: String) {
        self.last_key_ms = None;
        if text == self.current {
            return;
        }
        self.future.clear();
        self.past.push(std::mem::replace(&mut self.current, text));
        if self.past.len() > Self::MAX_STEPS {
            self.past.remove(0);
        }
    }

    /// Returns whether there is a step to undo.
    pub(crate) fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Undoes the last step; does nothing if there is none.
    pub(crate) fn undo(&mut self) {
        self.last_key_ms = None;
        if let Some(before) = self.past.pop() {
            self.future
                .push(std::mem::replace(&mut self.current, before));
        }
    }

    /// Redoes the step that was undone last; does nothing if there is none.
    pub(crate) fn redo(&mut self) {
        self.last_key_ms = None;
        if let Some(after) = self.future.pop() {
            self.past.push(std::mem::replace(&mut self.current, after));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_a_row_are_one_step() {
        let mut text = TextUndoHistory::new("tide".to_owned());
        text.record_typing("tides".to_owned(), 0.0);
        text.record_typing("tides ".to_owned(), 200.0);
        text.record_typing("tides x".to_owned(), 5000.0);
        text.undo();
        assert_eq!(text.current_text(), "tides ");
        text.undo();
        assert_eq!(text.current_text(), "tide");
        assert!(!text.can_undo());
        text.redo();
        assert_eq!(text.current_text(), "tides ");
        assert_eq!(text.original_text(), "tide");
    }

    #[test]
    fn an_edit_parts_what_is_typed_before_and_after() {
        let mut text = TextUndoHistory::new(String::new());
        text.record_typing("a".to_owned(), 0.0);
        text.record_button_edit("a a".to_owned());
        text.record_typing("a ab".to_owned(), 10.0);
        text.undo();
        assert_eq!(text.current_text(), "a a");
        text.undo();
        assert_eq!(text.current_text(), "a");
    }

    #[test]
    fn a_new_edit_forgets_what_was_undone_and_an_edit_without_effect_is_no_step() {
        let mut text = TextUndoHistory::new("a".to_owned());
        text.record_button_edit("b".to_owned());
        text.undo();
        text.record_button_edit("a".to_owned());
        assert!(!text.can_undo());
        text.record_button_edit("c".to_owned());
        text.redo();
        assert_eq!(text.current_text(), "c");
    }
}
