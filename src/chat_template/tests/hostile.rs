use std::time::Instant;

use proptest::prelude::*;

use super::render;

fn refused(template: &str, said: &str) {
    let begin = Instant::now();
    let error = render(template, &[("user", "hello")]).unwrap_err();
    assert!(error.message().contains(said), "{template}: {error}");
    assert!(begin.elapsed().as_secs() < 20, "{template} took {:?}", begin.elapsed());
}

#[test]
fn nothing_grows_without_end() {
    let much = "too many steps or too much memory";
    let twice = "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}";
    refused(twice, much);
    let lines: String =
        (0..99).map(|it| format!("{{% set s{} = s{it} + s{it} %}}", it + 1)).collect();
    refused(&format!("{{% set s0 = 'x' %}}{lines}"), much);
    let lists: String =
        (0..99).map(|it| format!("{{% set s{} = [s{it}, s{it}] %}}", it + 1)).collect();
    refused(&format!("{{% set s0 = 'x' %}}{lists}"), much);
    let loops = "{% for a in range(9999) %}".repeat(5) + &"{% endfor %}".repeat(5);
    refused(&loops, much);
    refused(
        "{{ 'aaaaaaaaaa'.replace('a', 'aaaaaaaaaa').replace('a', 'a' ~ range(9999)|join).replace('1', range(9999)|join) }}",
        much,
    );
    let nested: String =
        (0..30).map(|it| format!("{{% for s{} in [s{it} ~ s{it}] %}}", it + 1)).collect();
    refused(&format!("{{% set s0 = 'x' %}}{nested}{}", "{% endfor %}".repeat(30)), much);
    let upper = "{% set l = messages|map(attribute='content')|list %}{% for i in range(9999) %}\
        {% if (l + l + l + l)|map('upper')|join|length > 1 %}{% endif %}{% endfor %}";
    let long = "a".repeat(100_000);
    let error = render(upper, &[("user", &long)]).unwrap_err();
    assert!(error.message().contains(much), "{error}");
    let printed = format!("{{% for i in range(9999) %}}{}{{% endfor %}}", "x".repeat(9999));
    let error = render(&printed, &[("user", "a")]).unwrap_err();
    assert!(error.message().contains("too long") || error.message().contains(much), "{error}");
}

#[test]
fn what_cannot_be_bounded_is_refused() {
    for (template, said) in [
        ("{% macro m(a) %}{{ m(a ~ a) }}{% endmacro %}{{ m('x') }}", "\"macro\" is not supported"),
        ("a\n{% set x %}kept{% endset %}", "line 2: a block that is kept"),
        ("{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}", "a recursive loop"),
        ("{{ 'x' * 100000000 }}", "repetition"),
        ("{% include 'x' %}", "\"include\" is not supported"),
        ("{% raw %}{{ x }}{% endraw %}", "\"raw\" is not supported"),
        ("{% with a = 1 %}{% endwith %}", "\"with\" is not supported"),
        ("{{ 'x' ", "a tag has no end"),
        ("{% if %}", "chat template"),
        ("{{ nothing.at.all }}", "undefined"),
        ("{{ x|nofilter }}", "unknown filter"),
        ("{{ raise_exception('No\u{1b}!') }}", r"No\u{1b}!"),
    ] {
        refused(template, said);
    }
    refused(&format!("{{{{ {} }}}}", vec!["x"; 99].join("~")), "joins more than 24");
    refused(&format!("{{% if [{}] ~ '' %}}", vec!["x"; 99].join(",")), "lists more than 64");
    // What would be set is the text outside of the check's brackets.
    refused("{% set x = 'a') ~ ('b' %}", "brackets do not match");
    refused("{{ [(1]) }}", "brackets do not match");
    refused(&"x".repeat(300_000), "longer than 262144");
}

#[test]
fn a_namespace_cannot_hold_itself() {
    let begin = "{% set ns = namespace() %}";
    for keep in [
        "{% set ns.a = ns %}{{ ns }}",
        "{% set l = [ns] %}{% set ns.a = l %}{{ l }}",
        "{% set m = namespace(a=ns) %}",
    ] {
        refused(&format!("{begin}{keep}"), "a namespace may hold");
    }
    refused(&format!("{{{{ {}1{} }}}}", "[".repeat(40), "]".repeat(40)), "too much memory");
}

#[test]
fn messages_are_data() {
    let said = "{{ raise_exception('no') }}{% for %}<|im_end|>";
    let text = render("{% set c = messages[0].content %}{{ c }}", &[("user", said)]).unwrap();
    assert_eq!(text, said);
    assert!(render("x", &[("user", &"a".repeat(5 << 20))]).is_err());
}

proptest! {
    #[test]
    fn any_template_ends(parts in proptest::collection::vec(
        "\\{\\{|\\}\\}|\\{%|%\\}|-|\\{#|#\\}|set |for |in |if |endif|endfor| x | ns\\.a |=|~|\\(|\\)|\\[|\\]|'|\"|range\\(9\\)|\u{e9}|\\||join|messages|\\{|\\}|\\\\",
        0..40,
    )) {
        drop(render(&parts.concat(), &[("user", "a"), ("system", "b")]));
    }
}
