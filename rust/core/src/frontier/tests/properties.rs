//! The six guarantees over simulated hours.

use proptest::prelude::*;

use super::super::{HOUR, SECOND, Settings};
use super::world::{Plan, World};

fn settings(small: bool) -> Settings {
    let mut settings = Settings {
        gap: 2 * SECOND,
        ip_gap: SECOND,
        response_factor: 2.0,
        set_aside: 600 * SECOND,
        robots_give_up: 2 * HOUR,
        robots_fresh: 3 * HOUR,
        given_up_for: HOUR,
        slice: 7,
        ..Settings::default()
    };
    if small {
        // Everything that can be full is full.
        settings.head = 2;
        settings.heads_in_ram = 200;
        settings.idle_in_ram = 0;
        settings.rules_in_ram = 0;
    }
    settings
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_guarantees_hold_whatever_happens(
        seed: u64, hosts in 1_u64..14, ips in 1_u64..6, failing in 0_u64..40, crashing in 0_u64..8,
        clock_jumps: bool, moving: bool, capacity in 1_usize..12, small: bool, per_host in 1_u8..3,
        ip_gap in 0_u64..6,
    ) {
        let plan = Plan { hosts, ips, failing, crashing, clock_jumps, moving, capacity, adds: 400 };
        let settings = Settings { per_host, ip_gap: ip_gap * SECOND, ..settings(small) };
        let mut world = World::new(seed, plan, settings);
        world.run(400_000);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nobody_is_passed_over(
        seed: u64, hosts in 1_u64..40, ips in 1_u64..12, capacity in 1_usize..20, small: bool,
    ) {
        let plan = Plan {
            hosts, ips, failing: 0, crashing: 0, clock_jumps: false, moving: false, capacity, adds: 600,
        };
        // A refusal costs a slice, not a turn; here every turn must be used.
        let settings = Settings { slice: 1_000, ..settings(small) };
        World::new(seed, plan, settings).run_conserving();
    }
}

#[test]
fn a_long_crawl_keeps_the_guarantees() {
    let plan = Plan {
        hosts: 24,
        ips: 6,
        failing: 25,
        crashing: 3,
        clock_jumps: true,
        moving: true,
        capacity: 16,
        adds: 4_000,
    };
    let slow = Settings {
        gap: 2 * HOUR,
        ip_gap: HOUR,
        robots_fresh: 24 * HOUR,
        robots_give_up: 48 * HOUR,
        set_aside: 6 * HOUR,
        ..settings(true)
    };
    let mut world = World::new(7, plan, slow);
    let begin = world.now;
    world.run(4_000_000);
    let hours = (world.now - begin) / HOUR;
    println!(
        "{hours} simulated hours, {} visits, {} crashes",
        world.judge.visits, world.crashes
    );
    assert!(hours > 1_000 && world.crashes > 50 && world.judge.visits > 4_000);
}
