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
    let dated = "unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow";
    assert_eq!(directives("", &[dated]), (false, true));
}

#[test]
fn directives_are_parted_by_commas_semicolons_and_blanks() {
    for (content, expected) in [
        ("noindex nofollow", (true, true)),
        ("noindex\nfollow", (true, false)),
        ("index;nofollow", (false, true)),
        ("NOARCHIVE none", (true, true)),
        ("max-image-preview: none", (false, false)),
        ("max-image-preview:none, nofollow", (false, true)),
        ("max-snippet : -1 noindex", (true, false)),
        (
            "unavailable_after: 25 Jun 2010 15:00:00 PST nofollow",
            (false, true),
        ),
        (
            "unavailable_after: some day: noindex, nofollow",
            (false, true),
        ),
        ("noindexed nofollower", (false, false)),
    ] {
        let html = format!("<meta name=robots content='{content}'>");
        assert_eq!(directives(&html, &[]), expected, "{content}");
    }
    for (value, expected) in [
        ("noindex nofollow", (true, true)),
        ("gossamer: noindex nofollow", (true, true)),
        ("otherbot: noindex nofollow", (false, false)),
        (
            "unavailable_after: Sunday, 25-Jun-10 15:00:00 GMT, nofollow",
            (false, true),
        ),
        (
            "otherbot: unavailable_after: 1 Jan 2000, gossamer: nofollow",
            (false, true),
        ),
        ("*: noindex", (true, false)),
    ] {
        assert_eq!(directives("", &[value]), expected, "{value}");
    }
}

#[test]
fn a_page_whose_time_is_over_is_as_noindex() {
    let end = |content: &str, now: u64| {
        let html = format!("<meta name=robots content='{content}'>");
        let input = Input {
            content_type: Some("text/html"),
            body: html.as_bytes(),
            now,
            ..Input::default()
        };
        let page = parse(&input, &ParseSettings::default());
        (
            page.unavailable_after.map(|time| time / 1_000_000),
            page.noindex,
        )
    };
    let seconds = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second() as u64;
    let four = seconds("2010-06-25T15:00:00Z");
    for (text, expected) in [
        ("25 Jun 2010 15:00:00 GMT", four),
        ("25 Jun 2010 15:00:00 +0000", four),
        ("25 Jun 2010 07:00:00 PST", four),
        ("25-Jun-2010 10:00:00 EST", four),
        ("Friday, 25-Jun-10 15:00:00 UTC", four),
        ("Fri, 25 Jun 2010 15:00:00 GMT", four),
        ("2010-06-25T15:00:00Z", four),
        ("2010-06-25T17:00:00+02:00", four),
        ("2010-06-25 15:00:00", four),
        ("2010-06-24", seconds("2010-06-25T00:00:00Z")),
        ("24 June 2010", seconds("2010-06-25T00:00:00Z")),
        ("24-Jun-2010", seconds("2010-06-25T00:00:00Z")),
    ] {
        for content in [
            format!("unavailable_after: {text}"),
            format!("nofollow,unavailable_after:{text}, noarchive"),
            format!("unavailable_after: {text} noarchive"),
        ] {
            assert_eq!(end(&content, 0), (Some(expected), false), "{content}");
            assert_eq!(end(&content, expected * 1_000_000), (Some(expected), true));
        }
    }
    assert_eq!(end("unavailable_after: tomorrow", u64::MAX), (None, false));
    assert_eq!(end("unavailable_after:", u64::MAX), (None, false));
}

#[test]
fn lazy_images_are_resources() {
    let page = page(
        "<img src='data:,x' data-src=a.png data-srcset='b.png 1x, c.png 2x' alt=z>\
         <picture><source data-srcset='d.webp'></picture><iframe data-src=no></iframe>",
    );
    let found = targets(&page);
    let expected = [
        ("img", "data:,x"),
        ("img", "a.png"),
        ("img", "b.png"),
        ("img", "c.png"),
        ("source", "d.webp"),
    ];
    assert_eq!(found, expected);
    assert_eq!(page.text(page.links[1].anchor), "z");
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
    let kind = |content_type, url, body| sniff::document_kind(content_type, url, body).kind;
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

#[test]
fn a_type_that_tells_nothing_leaves_it_to_the_body() {
    let kind = |content_type: &str, body: &str| {
        let input = Input {
            url: "http://a.example/x",
            content_type: Some(content_type),
            body: body.as_bytes(),
            ..Input::default()
        };
        parse(&input, &ParseSettings::default()).kind
    };
    let page = "<!-- x --><html><a href=y>";
    for content_type in [
        "html",
        "text",
        "",
        " ",
        "unknown/unknown",
        "*/*",
        "application/unknown",
        "text/htm",
        "application/html",
        "www/unknown",
        "charset=utf-8",
        "text/html charset=utf-8",
    ] {
        assert_eq!(
            kind(content_type, page),
            DocumentKind::Html,
            "{content_type:?}"
        );
    }
    assert_eq!(kind("text", "plain"), DocumentKind::Text);
    assert_eq!(kind("html", "%PDF-1.4"), DocumentKind::Other);
    // What a type tells is believed, as browsers do.
    assert_eq!(kind("text/plain", page), DocumentKind::Text);
    assert_eq!(kind("application/octet-stream", page), DocumentKind::Other);
    let utf16: Vec<u8> = "\u{feff}<html>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let sniffed = sniff::document_kind(Some("html"), "http://a.example/x", &utf16);
    assert_eq!(sniffed.kind, DocumentKind::Html);
}

#[test]
fn xml_with_the_root_of_a_page_is_a_page() {
    let parsed = |content_type: Option<&str>, body: &str| {
        let input = Input {
            content_type,
            body: body.as_bytes(),
            ..Input::default()
        };
        parse(&input, &ParseSettings::default())
    };
    let declaration = "<?xml version='1.0' encoding='utf-8'?>\n<?xml-stylesheet href='x.css'?>";
    let doctype =
        "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x.dtd' [<!ENTITY a 'b'>]>";
    let root = "<html xmlns='http://www.w3.org/1999/xhtml'>";
    let body = "<head><title/><script src='s.js'/><style/></head><body><a id='x'/>text\
        <![CDATA[<a href='no'>]]><a href='/yes'>b<br/>c</a></body></html>";
    for start in [
        format!("{declaration}{doctype}{root}"),
        format!("{declaration}<!-- {} -->{root}", "x".repeat(5000)),
        format!("{declaration}<!DOCTYPE x [<!ELEMENT x ANY>]>{root}"),
        format!("\u{feff} {doctype}{root}"),
        root.to_owned(),
    ] {
        for content_type in [
            "text/xml",
            "application/xml; charset=utf-8",
            "application/xhtml+xml",
        ] {
            let page = parsed(Some(content_type), &format!("{start}{body}"));
            assert_eq!(page.kind, DocumentKind::Html, "{start}");
            assert_eq!(
                targets(&page),
                [("script", "s.js"), ("a", "/yes")],
                "{start}"
            );
            assert_eq!(page.text(page.links[1].anchor), "bc");
        }
    }
    for other in [
        "<rss><html/></rss>",
        "<!DOCTYPE svg><svg/>",
        "<!-- <html> --><a/>",
        "<htmlx/>",
        "<!--",
        "<?xml",
        "",
    ] {
        let page = parsed(Some("text/xml"), other);
        assert_eq!(page.kind, DocumentKind::Xml, "{other}");
    }
    // As HTML, no element closes itself: the title goes on to the end.
    let html = parsed(Some("text/html"), &format!("{root}{body}"));
    assert!(html.links.is_empty());
}
