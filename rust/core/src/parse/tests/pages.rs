//! Whole pages: what is found, and what is left alone.

use super::super::*;

fn page(html: &str) -> Page {
    parse(
        &Input {
            url: "http://a.example/",
            content_type: Some("text/html"),
            body: html.as_bytes(),
            ..Input::default()
        },
        &ParseSettings {
            forms: true,
            ..ParseSettings::default()
        },
    )
}

fn targets(page: &Page) -> Vec<(&str, &str)> {
    page.links
        .iter()
        .map(|link| (link.kind.as_str(), page.text(link.target)))
        .collect()
}

#[test]
fn every_kind_of_link_is_found_once() {
    let page = page(
        "<html lang=en-GB><base href='/b/'><body background=bg.png>\
         <a href=1>x</a><area href=2><frame src=3><iframe src=4></iframe><img src=5 srcset='6 1x, 7 2x'>\
         <link href=8><applet code=9 archive='10, 11'><object data=12></object><embed src=13>\
         <script src=14></script><video src=15 poster=16><source src=17 srcset=18><track src=19></video>\
         <audio src=20></audio><form action=21></form><form action=no method=POST></form>\
         <meta http-equiv=Refresh content='3;URL=22'><input type=image src=23>",
    );
    let expected = [
        ("base", "/b/"),
        ("background", "bg.png"),
        ("a", "1"),
        ("area", "2"),
        ("frame", "3"),
        ("iframe", "4"),
        ("img", "5"),
        ("img", "6"),
        ("img", "7"),
        ("link", "8"),
        ("applet", "9"),
        ("applet", "10"),
        ("applet", "11"),
        ("object", "12"),
        ("embed", "13"),
        ("script", "14"),
        ("video", "15"),
        ("video", "16"),
        ("source", "17"),
        ("source", "18"),
        ("track", "19"),
        ("audio", "20"),
        ("form", "21"),
        ("refresh", "22"),
        ("img", "23"),
    ];
    assert_eq!(targets(&page), expected);
    assert_eq!(page.base.as_deref(), Some("/b/"));
    assert_eq!(page.lang, "en-GB");
    assert_eq!(page.refresh.map(|refresh| refresh.seconds), Some(3));
}

#[test]
fn anchors_are_collapsed_bounded_and_closed_by_the_next_link() {
    let page =
        page("<a href=x> one\n <b>two</b>&amp;three <a href=y>four<img alt=five src=z></a>six");
    let anchors: Vec<_> = page
        .links
        .iter()
        .map(|link| page.text(link.anchor))
        .collect();
    assert_eq!(anchors, ["one two&three", "four five", "five"]);
}
