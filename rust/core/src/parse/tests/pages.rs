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

#[test]
fn what_is_hidden_from_a_browser_is_no_link() {
    let page = page(
        "<!-- <a href=no> --><script>'<a href=no>'<!-- <script> </script> <a href=no> --></script>\
         <style><a href=no></style><textarea><a href=no></textarea><title><a href=no></title>\
         <noscript><a href=yes></noscript><![CDATA[ > <a href=late>]]><a href=no",
    );
    assert_eq!(targets(&page), [("a", "yes"), ("a", "late")]);
    assert_eq!(page.title, "<a href=no>");
}

#[test]
fn foreign_content_does_not_swallow_the_page() {
    let page = page(
        "<svg><title/><style/><script/><image xlink:href=i /><a xlink:href=s>x</a>\
         <![CDATA[<a href=no>]]></svg><a href=yes>y</a><svg><p><title>t</title>",
    );
    assert_eq!(targets(&page), [("img", "i"), ("a", "s"), ("a", "yes")]);
    assert_eq!(page.title, "t");
}

#[test]
fn the_first_of_two_attributes_and_of_two_bases_counts() {
    let page =
        page("<base href=/1/><base href=/2/><a href='x&amp;y&copy=1' HREF=no rel='UGC nofollow'>");
    assert_eq!(page.base.as_deref(), Some("/1/"));
    assert_eq!(targets(&page), [("base", "/1/"), ("a", "x&y&copy=1")]);
    assert_eq!(
        page.links[1].rel.names().collect::<Vec<_>>(),
        ["nofollow", "ugc"]
    );
}

fn directives(html: &str, robots: &[&str]) -> (bool, bool) {
    let input = Input {
        content_type: Some("text/html"),
        robots,
        body: html.as_bytes(),
        ..Input::default()
    };
    let settings = ParseSettings {
        agent: String::from("Gossamer/1.0 (+http://a.example)"),
        ..ParseSettings::default()
    };
    let page = parse(&input, &settings);
    (page.noindex, page.nofollow)
}

#[test]
fn directives_for_everyone_and_for_us_hold() {
    let meta = |name: &str, content: &str| {
        directives(&format!("<meta name={name} content='{content}'>"), &[])
    };
    assert_eq!(meta("robots", "NOINDEX, follow"), (true, false));
    assert_eq!(meta("robots", "none"), (true, true));
    assert_eq!(meta("GOSSAMER", "nofollow"), (false, true));
    assert_eq!(meta("googlebot", "none"), (false, false));
    assert_eq!(directives("", &["noindex"]), (true, false));
    assert_eq!(
        directives("", &["otherbot: noindex, nofollow"]),
        (false, false)
    );
    assert_eq!(
        directives("", &["otherbot: noindex, gossamer: nofollow"]),
        (false, true)
    );
    let dated = "unavailable_after: 25 Jun 2010 15:00:00 PST, noindex";
    assert_eq!(directives("", &[dated]), (true, false));
}

#[test]
fn link_headers_are_links() {
    let input = Input {
        content_type: Some("application/pdf"),
        link: &[
            "</a>; rel=\"canonical\", <b,c>; rel=alternate; hreflang=\"de\"; title=\"x;,\\\"y\"",
            "nonsense, </no>",
        ],
        ..Input::default()
    };
    let page = parse(&input, &ParseSettings::default());
    assert_eq!(page.kind, DocumentKind::Other);
    assert_eq!(targets(&page), [("header", "/a"), ("header", "b,c")]);
    assert_eq!(page.canonical(), Some("/a"));
    assert_eq!(page.text(page.links[1].hreflang), "de");
}

#[test]
fn without_resources_only_what_leads_to_documents() {
    let html =
        "<a href=1><img src=2><link rel=stylesheet href=3><link rel=next href=4><script src=5>";
    let input = Input {
        content_type: Some("text/html"),
        body: html.as_bytes(),
        ..Input::default()
    };
    let settings = ParseSettings {
        resources: false,
        ..ParseSettings::default()
    };
    assert_eq!(
        targets(&parse(&input, &settings)),
        [("a", "1"), ("link", "4")]
    );
}

#[test]
fn the_kind_is_told_by_header_then_content_then_extension() {
    let kind = |content_type, url, body| sniff::document_kind(content_type, url, body);
    let url = "http://a.example/x.pdf";
    assert_eq!(kind(Some("Text/HTML;x"), url, b"%PDF-"), DocumentKind::Html);
    assert_eq!(
        kind(Some("application/rss+xml"), url, b""),
        DocumentKind::Xml
    );
    assert_eq!(kind(Some("text/plain"), url, b"<html>"), DocumentKind::Text);
    assert_eq!(
        kind(Some("*/*"), url, b" <!doctype HTML>"),
        DocumentKind::Html
    );
    assert_eq!(
        kind(None, url, b"\xef\xbb\xbf<?xml?><rss>"),
        DocumentKind::Xml
    );
    assert_eq!(kind(None, url, b"text"), DocumentKind::Other);
    assert_eq!(
        kind(None, "http://a.example/x.PHP?a.txt", b"text"),
        DocumentKind::Html
    );
    assert_eq!(kind(None, "http://a.example", b"text"), DocumentKind::Text);
    assert_eq!(
        kind(None, "http://a.example/", b"a\0b"),
        DocumentKind::Other
    );
}
