//! How much the vectors of a model, and how much closeness, are to count in a search.

use std::path::Path;

use pg_rag::embed::calibration::{Calibration, RetrievalWeights};
use postgres::Client;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::report::{Report, Table};
use crate::sets::Set;
use crate::settings::Settings;
use crate::{Result, fill, fresh, load};

/// Weights of the vectors that are tried, in tenths.
const DENSE: std::ops::RangeInclusive<u32> = 3..=9;

/// How much closeness may count: not, half as much as it does by itself, and as much.
const CLOSENESS: [f64; 3] = [0.0, 0.5, 1.0];

/// What holds for a model that nothing was fitted to.
const BUILT_IN: TriedWeights = TriedWeights { dense: 0.7, closeness: 1.0 };

/// Weights that are tried.
#[derive(Clone, Copy, PartialEq)]
struct TriedWeights {
    dense: f64,
    closeness: f64,
}

/// The figures of a set, one for each of the tried weights, in their order.
pub struct FittedSet {
    name: String,
    /// nDCG@10 of the questions that weights are fitted to.
    fitted: Vec<f64>,
    /// nDCG@10 of the others.
    kept: Vec<f64>,
}

impl TriedWeights {
    fn all() -> Vec<TriedWeights> {
        let of = |closeness: f64| {
            DENSE.map(move |tenths| TriedWeights { dense: f64::from(tenths) / 10.0, closeness })
        };
        CLOSENESS.into_iter().flat_map(of).collect()
    }

    fn name(self) -> String {
        format!("dense_weight {}, closeness {}", self.dense, self.closeness)
    }

    fn options(self) -> Value {
        json!({"retrieve": {"dense_weight": self.dense, "closeness": self.closeness}})
    }
}

/// Asks both halves of a set under all weights. Fails for a set of spans, which has no nDCG of documents.
pub fn measure(cluster: &Cluster, set: Set, settings: &Settings) -> Result<FittedSet> {
    if set.is_of_spans {
        return Err("weights are fitted to documents, not to spans".into());
    }
    let mut client = fresh(cluster)?;
    fill(&mut client, &set, settings)?;
    load(&mut client, &set, settings.questions)?;
    let cases = set.cases.to_string();
    client.execute("SELECT rag_eval_load('kept', $1::text::jsonb)", &[&cases])?;
    client.batch_execute(
        "DELETE FROM rag.eval_case WHERE eval_set = 'kept';
         UPDATE rag.eval_case SET eval_set = 'kept' WHERE md5(label) >= '8'",
    )?;
    let fitted = figures(&mut client, "set")?;
    let kept = figures(&mut client, "kept")?;
    Ok(FittedSet { name: set.name, fitted, kept })
}

/// nDCG@10 of a half under each of the weights.
fn figures(client: &mut Client, half: &str) -> Result<Vec<f64>> {
    let all = TriedWeights::all();
    let configurations: serde_json::Map<String, Value> =
        all.iter().map(|it| (it.name(), it.options())).collect();
    let query = "SELECT configuration, value
                 FROM rag_eval(eval_set => $1, configurations => $2::text::json, k => ARRAY[10])
                 WHERE metric = 'ndcg'";
    let rows = client.query(query, &[&half, &Value::Object(configurations).to_string()])?;
    let figure = |weights: &TriedWeights| -> Result<f64> {
        let name = weights.name();
        let own = rows.iter().find(|row| row.get::<_, String>(0) == name);
        own.map(|row| row.get(1)).ok_or_else(|| format!("no figure of {name}").into())
    };
    all.iter().map(figure).collect()
}

/// Prints the mean of all sets for each of the weights, and chooses those that are best for the fitted half. They are written
/// into the calibration file `out`, whose other parts stay; a file that is not there begins as that of any model.
pub fn choose(sets: &[FittedSet], out: Option<&Path>, report: &mut Report) -> Result<()> {
    if sets.is_empty() {
        return Err("there is no set to fit to".into());
    }
    let mean = |of: fn(&FittedSet) -> &Vec<f64>, at: usize| {
        sets.iter().map(|set| of(set)[at]).sum::<f64>() / sets.len() as f64
    };
    let all = TriedWeights::all();
    report.heading("weights");
    let mut table = Table::new(["nDCG@10, mean of all sets", "fitted half", "other half"]);
    let built_in =
        all.iter().position(|it| *it == BUILT_IN).ok_or("what is built in is not tried")?;
    let mut best = built_in;
    for (at, weights) in all.iter().enumerate() {
        let [fitted, kept] = [mean(|it| &it.fitted, at), mean(|it| &it.kept, at)];
        table.row([weights.name(), format!("{fitted:.4}"), format!("{kept:.4}")]);
        if fitted > mean(|it| &it.fitted, best) {
            best = at;
        }
    }
    report.table(&table);
    for FittedSet { name, fitted, kept } in sets {
        report.note(&format!(
            "{name}: {:.4} of the fitted half and {:.4} of the other, built in {:.4} and {:.4}",
            fitted[best], kept[best], fitted[built_in], kept[built_in]
        ));
    }
    report.note(&format!("chosen: {}", all[best].name()));
    match out {
        Some(out) => write(out, all[best]),
        None => Ok(()),
    }
}

fn write(out: &Path, chosen: TriedWeights) -> Result<()> {
    let mut calibration = match out.is_file() {
        true => Calibration::parse(&std::fs::read_to_string(out)?)?,
        false => Calibration::generic()?,
    };
    calibration.retrieval = Some(RetrievalWeights {
        dense_weight: Some(chosen.dense),
        closeness: Some(chosen.closeness),
        ..calibration.retrieval.unwrap_or_default()
    });
    std::fs::write(out, calibration.to_json()?)?;
    Ok(())
}
