//! Times the writing of pages: microseconds a page, and links alone.
use gossamer_simweb::model::html::Scratch;
use gossamer_simweb::{Model, Options};

fn main() {
    let options = Options {
        hosts: 1,
        pages: 5000,
        ..Options::default()
    };
    let Ok(model) = Model::new(options) else {
        return;
    };
    let mut scratch = Scratch::default();
    let mut out = Vec::new();
    for _ in 0..20 {
        let start = std::time::Instant::now();
        let mut bytes = 0;
        for id in 0..5000 {
            out.clear();
            let place = model.place(id);
            let state = model.state(place, 0.0);
            let tail = model.write_page(place, state, &mut scratch, &mut out);
            bytes += out.len() + tail.len();
        }
        let each = start.elapsed().as_secs_f64() * 1e6 / 5000.0;
        let start = std::time::Instant::now();
        for id in 0..5000 {
            model.links(model.place(id), &mut scratch.links);
        }
        let links = start.elapsed().as_secs_f64() * 1e6 / 5000.0;
        println!(
            "{each:.1} us a page of {} bytes, links {links:.1} us",
            bytes / 5000
        );
    }
}
