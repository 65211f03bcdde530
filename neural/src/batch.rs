//! Groups texts into batches for the encoder.

/// Returns batches of texts, as indices into `lengths` (in tokens), longest texts first.
///
/// Texts of similar length share a batch, so that there is little padding if a device needs it. The
/// largest batch comes first, so that a lack of memory shows at once. Equal lengths keep their
/// order. A batch has at most `token_budget` tokens; a longer text is alone in its batch.
pub fn batch_texts_by_length(lengths: &[usize], token_budget: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&text| std::cmp::Reverse(lengths[text])); // stable: ties by index

    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for text in order {
        match batches.last_mut() {
            Some(batch) if lengths[text] <= room => {
                batch.push(text);
                room -= lengths[text];
            }
            _ => {
                batches.push(vec![text]);
                room = token_budget.saturating_sub(lengths[text]);
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_lengths_share_a_batch_within_the_budget() {
        assert_eq!(
            batch_texts_by_length(&[3, 9, 4, 3, 5], 10),
            [vec![1], vec![4, 2], vec![0, 3]]
        );
    }

    #[test]
    fn a_text_beyond_the_budget_is_alone() {
        assert_eq!(
            batch_texts_by_length(&[2, 50, 2, 60], 10),
            [vec![3], vec![1], vec![0, 2]]
        );
    }

    #[test]
    fn ties_keep_their_order() {
        assert_eq!(batch_texts_by_length(&[4, 4, 4, 4], 8), [[0, 1], [2, 3]]);
    }

    #[test]
    fn no_texts_make_no_batches_and_no_budget_makes_one_a_text() {
        assert!(batch_texts_by_length(&[], 10).is_empty());
        assert_eq!(batch_texts_by_length(&[2, 3], 0), [[1], [0]]);
    }
}
