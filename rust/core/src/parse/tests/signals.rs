//! Text signals: what changes the SimHash and what does not.

use super::super::{Input, Page, ParseSettings, parse, simhash_distance};

fn page(html: &str) -> Page {
    let input = Input {
        content_type: Some("text/html"),
        body: html.as_bytes(),
        ..Input::default()
    };
    parse(&input, &ParseSettings::default())
}

/// A text of `count` words, different for each seed.
fn words(count: u64, seed: u64) -> Vec<String> {
    (0..count)
        .map(|index| {
            let mixed = (index + 1)
                .wrapping_mul(seed | 1)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("w{:x}", mixed >> 44)
        })
        .collect()
}

#[test]
fn markup_case_space_and_punctuation_do_not_matter() {
    let plain = page("the quick brown fox jumps over the lazy dog");
    let marked = page(
        "<script>var x = 'noise'</script><style>p{}</style><!-- noise --><p>The <b>quick</b>, \
         brown&nbsp;fox;\n\n jumps <i>OVER</i> the lazy&#32;dog!<textarea>noise</textarea>",
    );
    assert_eq!(plain.simhash, marked.simhash);
    assert_eq!(plain.text_bytes, marked.text_bytes);
    assert_eq!(plain.text_bytes, 35 + 9);
    assert_ne!(plain.simhash, 0);
}

#[test]
fn a_page_that_scripts_would_make_is_told_from_one_with_text_or_links() {
    let shell = "<html><head><title>Shop</title><script src=/app.js></script></head><body><div id=root></div>\
         <noscript>You need to enable JavaScript to run this app.</noscript></body></html>";
    assert!(page(shell).scripted);
    assert!(page("<app-root></app-root><script>start()</script><link rel=icon href=/i>").scripted);
    let text = "word ".repeat(60);
    assert!(!page(&format!("{shell}{text}")).scripted, "it has text");
    assert!(
        !page(&format!("{shell}<a href=/next>next</a>")).scripted,
        "it has a link"
    );
    assert!(!page("<p>short</p>").scripted, "it has no script");
}

#[test]
fn a_small_change_stays_near_and_another_text_is_far() {
    let mut near = Vec::new();
    let mut far = Vec::new();
    for seed in 1..40 {
        let mut text = words(600, seed * 7919);
        let first = page(&text.join(" ")).simhash;
        text[300] = String::from("changed");
        text.push(String::from("appended"));
        near.push(simhash_distance(first, page(&text.join(" ")).simhash));
        far.push(simhash_distance(
            first,
            page(&words(600, seed * 104_729).join(" ")).simhash,
        ));
    }
    near.sort_unstable();
    far.sort_unstable();
    eprintln!("near {near:?}\nfar {far:?}");
    assert!(
        near[near.len() / 2] <= 3 && near[near.len() - 1] <= 8,
        "{near:?}"
    );
    assert!(far[0] >= 14, "{far:?}");
}

#[test]
fn the_order_of_words_counts_and_short_texts_differ() {
    assert_ne!(page("a b c d e").simhash, page("e d c b a").simhash);
    assert_ne!(page("one").simhash, page("two").simhash);
    assert_ne!(page("one two").simhash, page("two one").simhash);
    assert_eq!(page("<p></p> ,.- ").simhash, 0);
    assert_eq!(page("<p></p> ,.- ").text_bytes, 0);
}

#[test]
fn bits_are_counted_as_a_plain_counter_would() {
    // A word over the edge of a block, runs of every length and position.
    for length in 1..200 {
        let text = "abcdefg ".repeat(length / 8 + 1);
        let padded = format!("{}{text}", " ".repeat(length));
        assert_eq!(page(&text).simhash, page(&padded).simhash, "{length}");
        assert_eq!(page(&text).text_bytes as usize, (length / 8 + 1) * 8);
    }
}

#[test]
fn words_beyond_ascii_are_words() {
    assert_eq!(
        page("Ärger über Öl").simhash,
        page("ärger, «ÜBER» öl").simhash
    );
    assert_eq!(page("東京都の").text_bytes, 12 + 4);
    assert_ne!(page("東京都の天気").simhash, page("東京都の電気").simhash);
}
