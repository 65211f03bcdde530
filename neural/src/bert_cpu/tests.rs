use super::row_kernels::erf;
use super::*;
use candle_core::DType;

use crate::bert::CandleBert;
use crate::config::EncoderConfig;
use crate::weights::ModelWeights;

#[test]
fn exp_and_erf_are_as_exact_as_f32_needs() {
    for step in -100_000..=0 {
        let x = step as f32 / 1_000.0;
        let exact = f64::from(x.max(-87.0)).exp();
        assert!(
            (f64::from(exp_of_nonpositive(x)) / exact - 1.0).abs() < 2e-7,
            "exp {x}: {}",
            exp_of_nonpositive(x)
        );
    }
    for step in -60_000..=60_000 {
        let x = step as f32 / 10_000.0;
        let exact = candle_core::cpu::erf::erf_f64(f64::from(x));
        assert!(
            (f64::from(erf(x)) - exact).abs() < 5e-7,
            "erf {x}: {}",
            erf(x)
        );
    }
    assert!(
        exp_of_nonpositive(f32::NEG_INFINITY) > 0.0
            && exp_of_nonpositive(0.0) == 1.0
            && erf(0.0) == 0.0
    );
}

/// GPUs use candle's own operations; here they run on the CPU.
#[test]
fn equals_the_plain_pass_in_candle() {
    macro_rules! files {
        ($name:literal) => {
            (
                include_bytes!(concat!("../../tests/fixtures/", $name, "/config.json")).as_slice(),
                include_bytes!(concat!(
                    "../../tests/fixtures/",
                    $name,
                    "/model.safetensors"
                ))
                .as_slice(),
            )
        };
    }
    for (config, weights) in [
        files!("tiny"),
        files!("roberta"),
        files!("electra"),
        files!("distilbert"),
    ] {
        let config = EncoderConfig::parse(config).unwrap();
        let weights =
            ModelWeights::from_safetensors_bytes(weights, config.family.tensor_prefix()).unwrap();
        let model = BertParameters::load(&weights, config.clone()).unwrap();
        let ids: Vec<u32> = (0..64).map(|n| n * 37 % 101).collect();
        let texts = [(64, 20), (2, 2), (17, 0), (3, 2), (33, 33)];
        let texts = texts.map(|(n, second)| EncoderInput {
            ids: &ids[64 - n..],
            second_segment_start: second,
            // No token attends to the others.
            n_attended: n.div_ceil(2).max(second),
        });
        let fused = run_bert_on_cpu(&model, &texts);
        drop(model);
        // States are about 1. The bounds are a dozen times the last digit: 5e-4 of f16, 4e-3 of
        // bf16.
        for (dtype, bounds) in [
            (DType::F32, 0.0..2e-5),
            (DType::F16, 1e-4..1e-2),
            (DType::BF16, 1e-3..1e-1),
        ] {
            let model = BertParameters::load(&weights, config.clone()).unwrap();
            let plain =
                CandleBert::from_parameters(model, &candle_core::Device::Cpu, dtype).unwrap();
            let plain = plain.forward(&texts).unwrap();
            assert_eq!(fused.len(), plain.len());
            let apart = fused.iter().zip(&plain).map(|(a, b)| (a - b).abs());
            let worst = apart.fold(0.0, f32::max);
            println!("{dtype:?}: {worst:.1e}");
            assert!(bounds.contains(&worst), "{dtype:?}: {worst}");
        }
    }
}

#[test]
fn shares_hold_every_text_once_and_are_about_equal() {
    let long = [0u32; 100];
    let texts = [2, 60, 7, 100, 50, 3, 40, 90].map(|n| EncoderInput {
        ids: &long[..n],
        second_segment_start: n,
        n_attended: n,
    });
    let lengths =
        |texts: &[EncoderInput<'_>]| texts.iter().map(|it| it.ids.len()).collect::<Vec<_>>();
    for n in 1..=10 {
        let shares = shares(&texts, n);
        assert!(shares.len() <= n);
        assert!(shares.iter().all(|share| !share.is_empty()));
        assert_eq!(lengths(&shares.concat()), lengths(&texts));
    }
    assert_eq!(
        shares(&texts, 2)
            .iter()
            .map(|s| s.len())
            .collect::<Vec<_>>(),
        [5, 3]
    );
    assert!(shares(&[], 2).is_empty());
}
