//! The figures of a set, beside those of other ways.

use postgres::Row;

use crate::baseline::{self, Baseline};
use crate::report::{Report, Table};
use crate::sets::Set;

/// A row of rag_eval.
struct Figure {
    configuration: String,
    metric: String,
    k: Option<i32>,
    value: f64,
    low: f64,
    high: f64,
    difference: Option<f64>,
    p_value: Option<f64>,
}

/// Prints a table: a row for each configuration, then for each other way.
pub fn show(report: &mut Report, set: &Set, rows: &[Row]) {
    let figures: Vec<Figure> = rows.iter().map(figure).collect();
    let mut names: Vec<&str> = figures.iter().map(|it| it.configuration.as_str()).collect();
    names.dedup();
    let measures = baseline::metrics(&set.name);
    let heads = measures.map(|(metric, k)| format!("{metric}@{k}"));
    let mut table =
        Table::new(["", &heads[0], "95 %", &heads[1], "difference", "p", "p50 ms", "p95 ms"]);
    for name in names {
        let find = |metric: &str, k: Option<i32>| {
            figures.iter().find(|it| it.configuration == name && it.metric == metric && it.k == k)
        };
        let [first, second] = measures.map(|(metric, k)| find(metric, Some(k)));
        let latency = |metric| shown(find(metric, None).map(|it| it.value), 1);
        table.row([
            name.to_owned(),
            shown(first.map(|it| it.value), 4),
            first.map_or_else(String::new, |it| format!("{:.3} to {:.3}", it.low, it.high)),
            shown(second.map(|it| it.value), 4),
            first.and_then(|it| it.difference).map_or_else(String::new, |it| format!("{it:+.4}")),
            shown(first.and_then(|it| it.p_value), 4),
            latency("latency_p50"),
            latency("latency_p95"),
        ]);
    }
    for Baseline { name, values } in baseline::baselines(&set.name) {
        let [first, second] = values.map(|value| shown(value, 3));
        let nothing = String::new;
        table.row([
            name.to_owned(),
            first,
            nothing(),
            second,
            nothing(),
            nothing(),
            nothing(),
            nothing(),
        ]);
    }
    report.table(&table);
    report.note(&format!(
        "difference and p are those of {} to the first row; {}",
        heads[0],
        if set.is_of_spans {
            "chunks are ranked"
        } else {
            "documents are ranked by their best chunk"
        }
    ));
}

/// Notes one metric of all configurations, with its differences to the first.
pub fn note(report: &mut Report, rows: &[Row], (metric, k): (&str, i32)) {
    let figures = rows.iter().map(figure).filter(|it| it.metric == metric && it.k == Some(k));
    let said: Vec<String> = figures
        .map(|it| {
            let difference =
                it.difference.map(|value| format!(" ({value:+.4}, p {})", shown(it.p_value, 4)));
            format!("{} {:.4}{}", it.configuration, it.value, difference.unwrap_or_default())
        })
        .collect();
    report.note(&format!("{metric}@{k}: {}", said.join("; ")));
}

fn figure(row: &Row) -> Figure {
    Figure {
        configuration: row.get(0),
        metric: row.get(1),
        k: row.get(2),
        value: row.get(3),
        low: row.get(4),
        high: row.get(5),
        difference: row.get(6),
        p_value: row.get(7),
    }
}

fn shown(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(String::new, |value| format!("{value:.digits$}"))
}
