//! Comparison with Hugging Face transformers; `tests/fixtures/t5.py` wrote its results.

use serde_json::Value;

use super::config::RelativePositionBuckets;
use super::*;

/// Returns both forms of T5, with the results of the reference.
pub(crate) fn fixtures() -> [(ModelFileContents, Value); 2] {
    macro_rules! fixture {
        ($name:literal) => {
            (
                ModelFileContents {
                    config: include_bytes!(concat!("../../tests/fixtures/", $name, "/config.json"))
                        .to_vec(),
                    tokenizer: include_bytes!(concat!(
                        "../../tests/fixtures/",
                        $name,
                        "/tokenizer.json"
                    ))
                    .to_vec(),
                    weights: include_bytes!(concat!(
                        "../../tests/fixtures/",
                        $name,
                        "/model.safetensors"
                    ))
                    .to_vec(),
                    ..ModelFileContents::default()
                },
                serde_json::from_str(include_str!(concat!(
                    "../../tests/fixtures/",
                    $name,
                    ".json"
                )))
                .unwrap(),
            )
        };
    }
    [fixture!("t5"), fixture!("t5-gated")]
}

#[test]
fn states_of_the_encoder_equal_the_reference_alone_and_in_a_batch() {
    for (files, fixture) in fixtures() {
        let config = T5Config::parse(&files.config).unwrap();
        let h = config.d_model;
        let model = T5::load(&files, config, crate::Device::Cpu).unwrap();
        let texts = fixture["texts"].as_array().unwrap();
        let ids: Vec<Vec<u32>> = texts
            .iter()
            .map(|it| serde_json::from_value(it["ids"].clone()).unwrap())
            .collect();
        let inputs: Vec<EncoderInput<'_>> = ids
            .iter()
            .map(|ids| EncoderInput::single_segment(ids))
            .collect();
        assert!(ids.iter().any(|it| it.len() == 1) && ids.iter().any(|it| it.len() == 48));
        let states = model.encode(&inputs, Parallelism::None);
        let mut rest = states.as_slice();
        let (mut worst, mut apart) = (0.0_f64, 0.0_f32);
        for (input, text) in inputs.iter().zip(texts) {
            let (own, others) = rest.split_at(input.ids.len() * h);
            rest = others;
            for (row, expected) in text["states"].as_object().unwrap() {
                let row: usize = row.parse().unwrap();
                let found = &own[row * h..][..h];
                for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
                    worst = worst.max((f64::from(*found) - expected.as_f64().unwrap()).abs());
                }
            }
            let sum: f64 = own.iter().map(|&it| f64::from(it)).sum();
            assert!((sum - text["sum"].as_f64().unwrap()).abs() < 1e-3, "{text}");
            let alone = model.encode(&[*input], Parallelism::None);
            for (a, b) in own.iter().zip(&alone) {
                apart = apart.max((a - b).abs());
            }
        }
        println!("largest difference of a state: {worst:.1e}, alone: {apart:.1e}");
        assert!(worst < 1e-4 && apart < 1e-5, "{worst} {apart}");
    }
}

/// Whether `found` returns the numbers of `[[number, how often], …]`.
fn equals_runs(found: impl Iterator<Item = usize>, runs: &Value) -> bool {
    let runs: Vec<(usize, usize)> = serde_json::from_value(runs.clone()).unwrap();
    let expected = runs
        .into_iter()
        .flat_map(|(number, n)| std::iter::repeat_n(number, n));
    found.eq(expected)
}

#[test]
fn distances_fall_into_the_buckets_of_the_reference() {
    let [(_, fixture), _] = fixtures();
    for it in fixture["buckets"].as_array().unwrap() {
        let [n, most] = ["n", "most"].map(|name| it[name].as_u64().unwrap() as usize);
        let around = |distance| {
            relative_position::bidirectional_distance_bucket(
                distance,
                RelativePositionBuckets {
                    n_buckets: n,
                    max_distance: most,
                },
            )
        };
        assert!(equals_runs((-600..=600).map(around), &it["around"]), "{n}");
        let behind = |distance| relative_position::causal_distance_bucket(distance, n, most);
        assert!(equals_runs((0..=600).map(behind), &it["behind"]), "{n}");
    }
}

/// A generated text must not depend on the texts that are generated with it.
#[test]
fn a_line_has_the_same_bits_alone_and_beside_others() {
    for (files, _) in fixtures() {
        let config = T5Config::parse(&files.config).unwrap();
        let (h, v) = (config.d_model, config.vocab_size);
        let model = T5::load(&files, config, crate::Device::Cpu).unwrap();
        let ids = [5, 9, 30, 31, 7, 1];
        let memory_of = |ids: &[u32]| {
            let states = model.encode(&[EncoderInput::single_segment(ids)], Parallelism::None);
            model.compute_cross_attention_cache(&states, Parallelism::None)
        };
        let memories = [memory_of(&ids), memory_of(&ids[3..])];
        let decoder = model.create_decoder(6);
        let run = |places: &[usize]| {
            let mut lines: Vec<DecodingState> = places
                .iter()
                .map(|_| decoder.initial_decoding_state())
                .collect();
            let memories: Vec<&CrossAttentionCache> =
                places.iter().map(|it| &memories[it % 2]).collect();
            let mut logits = vec![Vec::new(); places.len()];
            for step in 0..6 {
                let states = decoder.compute_next_token_states(
                    &mut lines.iter_mut().collect::<Vec<_>>(),
                    &memories,
                );
                assert_eq!(states.len(), places.len() * h);
                for (own, next) in logits
                    .iter_mut()
                    .zip(decoder.vocabulary_logits(&states).chunks(v))
                {
                    own.extend(next.iter().map(|it| it.to_bits()));
                }
                for (line, place) in lines.iter_mut().zip(places) {
                    line.last = ((place * 7 + step * 3) % v) as u32;
                }
            }
            logits
        };
        let together = run(&[0, 1, 2, 3, 4, 5, 6]);
        for (place, line) in together.iter().enumerate() {
            assert_eq!(&run(&[place])[0], line, "{place}");
        }
        let turned = run(&[6, 5, 4, 3, 2, 1, 0]);
        assert!(turned.iter().rev().eq(&together));
    }
}
