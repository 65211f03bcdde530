//! The page from an order of instances is the page that a look at every instance finds.

use rand_core::{RngCore, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::super::fixture::{random_listing, study_with_five_rankers};
use super::*;
use crate::integer_column::OwnedOrSharedIntegers;
use crate::probe::ProbeInstances;

#[test]
fn a_page_from_an_order_is_the_page_of_a_look_at_every_instance() {
    let study = study_with_five_rankers();
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let mut below = |n: usize| (random.next_u64() >> 16) as usize % n;
    let probes: Vec<&ProbeInstances> = study.instances.iter().filter(|it| it.len() > 9).collect();
    assert!(probes.len() > 3);
    let mut orders = std::collections::BTreeMap::new();
    let (mut n_from_order, mut n_rows) = (0, 0);
    for _ in 0..400 {
        let at = below(probes.len());
        let instances = probes[at];
        let row = below(study.scores.len());
        let order = orders
            .entry((at, row))
            .or_insert_with(|| InstanceOrder::build(&study, instances, &study.scores[row]));
        let listing = random_listing(&study, instances, row, &mut below);
        let lister = study.instance_lister(&listing).unwrap();
        let Some(page) = lister.page_from_order(order) else {
            continue;
        };
        assert_eq!(page, study.list_instances(&listing).unwrap(), "{listing:?}");
        n_from_order += 1;
        n_rows += page.rows.len();
    }
    assert!(
        n_from_order > 300 && n_rows > 1_000,
        "{n_from_order}, {n_rows}"
    );
}

#[test]
fn an_order_is_restored_only_for_its_own_instances() {
    let study = study_with_five_rankers();
    let all = study.instances.iter().filter(|it| it.len() > 9);
    let [instances, other] = all.take(2).collect::<Vec<_>>()[..] else {
        panic!("two probes have instances");
    };
    let order = InstanceOrder::build(&study, instances, &study.scores[2]);
    let header = || order.header().clone();
    let column = || OwnedOrSharedIntegers::from(order.column().to_vec());
    let restored = InstanceOrder::from_parts(header(), column(), instances);
    assert_eq!(restored.as_ref(), Some(&order));
    assert_ne!(instances.len(), other.len());
    assert!(InstanceOrder::from_parts(header(), column(), other).is_none());
    let mut foreign = order.column().to_vec();
    foreign[0] = instances.len() as u32;
    let foreign = OwnedOrSharedIntegers::from(foreign);
    assert!(InstanceOrder::from_parts(header(), foreign, instances).is_none());
}
