//! Which of several layers of options says what: the arguments of a call, its options, the defaults of the
//! pipeline, the settings of the session, and what is built in.

use std::fmt;

use serde_json::{Value, json};

use super::written::FILTER;
use super::{QuestionOptions, WrittenOptions, bare_keys, groups};
use crate::error::Result;
use crate::options::shortened;

/// Options of which a list tells only where they come from: they have values of columns, or what people have said.
const UNTOLD: [&str; 2] = [FILTER, "answer.history"];

/// What a call says of its question, over what the pipeline says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptionLayers {
    /// The arguments of the call.
    pub arguments: WrittenOptions,
    /// The options of the call.
    pub options: WrittenOptions,
    /// The defaults of the pipeline.
    pub defaults: WrittenOptions,
}

/// Where a value comes from that is not built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionSource {
    /// The call.
    Call,
    /// The defaults of the pipeline.
    Pipeline,
    /// A setting, by its name.
    Setting(&'static str),
    /// The language model, which runs on this machine.
    LocalModel,
    /// The calibration of the embedding model.
    Calibration,
}

/// What holds for an option that neither the call nor the pipeline says.
pub struct SettingInForce {
    /// The option.
    pub option: &'static str,
    /// What says its value.
    pub source: OptionSource,
    /// Its value.
    pub value: String,
}

impl fmt::Display for OptionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionSource::Call => f.write_str("call"),
            OptionSource::Pipeline => f.write_str("pipeline"),
            OptionSource::Setting(name) => write!(f, "setting {name}"),
            OptionSource::LocalModel => f.write_str("local model"),
            OptionSource::Calibration => f.write_str("model"),
        }
    }
}

impl OptionLayers {
    /// The options that hold. An argument wins over options, and these over defaults; `rewrite` takes with
    /// it what they say of the way that it names, or of none. An error where options of the call and of the
    /// pipeline exclude each other.
    pub fn options(&self) -> Result<QuestionOptions> {
        let below = self.options.over(&self.defaults);
        let merged = on_top(&self.arguments, &below).options()?;
        match merged.check() {
            Err(error) if !self.defaults.is_empty() => Err(error.detail(
                "Some of the options are defaults of the pipeline; null in the call takes one away.",
            )),
            checked => checked.map(|()| merged),
        }
    }

    /// What says the value of the option `path`, if a layer does.
    #[must_use]
    pub fn source(&self, path: &str) -> Option<OptionSource> {
        self.said(path).map(|(source, _)| source)
    }

    /// What says the value of the option `path`, and the value.
    #[must_use]
    pub fn said(&self, path: &str) -> Option<(OptionSource, &Value)> {
        let call = self.arguments.value(path).or_else(|| self.options.value(path));
        let call = call.map(|value| (OptionSource::Call, value));
        call.or_else(|| Some((OptionSource::Pipeline, self.defaults.value(path)?)))
    }

    /// All values that are not built in, and where they come from: "k = 8 (pipeline)". Of the filter and
    /// the history, only where they come from.
    #[must_use]
    pub fn listed(&self, settings: &[SettingInForce]) -> Vec<String> {
        paths().iter().filter_map(|path| self.line(path, settings)).collect()
    }

    fn line(&self, path: &str, settings: &[SettingInForce]) -> Option<String> {
        let setting = settings.iter().find(|setting| setting.option == path);
        let of_setting = |SettingInForce { source, value, .. }: &SettingInForce| {
            format!("{path} = {} ({source})", shown(&json!(value)))
        };
        match self.said(path) {
            None => setting.map(of_setting),
            // Null leaves the word to the setting, and is worth a line where it takes something away.
            Some((source, Value::Null)) => setting.map(of_setting).or_else(|| {
                let default = self.defaults.value(path).filter(|default| !default.is_null());
                default.map(|_| format!("{path} = null ({source})"))
            }),
            Some((source, _)) if UNTOLD.contains(&path) => Some(format!("{path} ({source})")),
            Some((source, value)) => Some(format!("{path} = {} ({source})", shown(value))),
        }
    }
}

/// All options, as their paths.
fn paths() -> Vec<String> {
    let bare = bare_keys().into_iter().map(str::to_owned);
    let groups = groups();
    let grouped = groups
        .iter()
        .flat_map(|group| group.keys.iter().map(move |key| format!("{}.{key}", group.name)));
    bare.chain(grouped).collect()
}

/// The options below the arguments, with the way of rewriting where an object says how it is done.
fn on_top(arguments: &WrittenOptions, options: &WrittenOptions) -> WrittenOptions {
    let merged = arguments.over(options);
    let path = "retrieve.rewrite";
    let (Some(way), Some(Value::Object(given))) = (arguments.value(path), options.value(path))
    else {
        return merged;
    };
    let names_another = given.get("by").is_some_and(|by| !by.is_null() && by != way);
    if names_another {
        return merged;
    }
    let mut given = given.clone();
    given.insert("by".to_owned(), way.clone());
    WrittenOptions::of(
        json!({"retrieve": {"rewrite": given}}).as_object().cloned().unwrap_or_default(),
    )
    .over(&merged)
}

fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    shortened(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::RewriteMethod;

    fn read(value: Value) -> WrittenOptions {
        WrittenOptions::read(value).unwrap()
    }

    fn layers(arguments: Value, options: Value, defaults: Value) -> OptionLayers {
        let [arguments, options, defaults] = [arguments, options, defaults].map(read);
        OptionLayers { arguments, options, defaults }
    }

    #[test]
    fn each_layer_wins_over_those_below() {
        let layers = layers(
            json!({"k": 3}),
            json!({"k": 4, "llm": "b", "retrieve": {"mmr": 0.5}}),
            json!({"k": 5, "llm": "c", "retrieve": {"mmr": 0.6, "dedupe": 1}}),
        );
        let options = layers.options().unwrap();
        assert_eq!((options.k, options.llm.as_deref()), (Some(3), Some("b")));
        assert_eq!((options.retrieve.mmr, options.retrieve.dedupe), (Some(0.5), Some(1.0)));
        assert_eq!(layers.source("k"), Some(OptionSource::Call));
        assert_eq!(layers.source("retrieve.dedupe"), Some(OptionSource::Pipeline));
        assert_eq!(layers.source("retrieve.rerank"), None);
    }

    #[test]
    fn what_excludes_something_of_the_pipeline_says_so() {
        let layers = layers(
            json!({}),
            json!({"retrieve": {"expand": "section"}}),
            json!({"retrieve": {"neighbours": 2}}),
        );
        let error = layers.options().unwrap_err();
        assert!(error.message().contains("exclude each other"), "{error}");
        assert!(error.detail_text().unwrap().contains("defaults of the pipeline"));
    }

    #[test]
    fn the_argument_rewrite_takes_what_is_said_of_its_way() {
        let check = |argument: &str, given: Value, way: Option<RewriteMethod>, n: Option<u32>| {
            let argument = json!({"retrieve": {"rewrite": argument}});
            let given = json!({"retrieve": {"rewrite": given}});
            for layers in [
                layers(argument.clone(), given.clone(), json!({})),
                layers(argument.clone(), json!({}), given.clone()),
            ] {
                let rewrite = layers.options().unwrap().retrieve.rewrite;
                assert_eq!((rewrite.way, rewrite.n), (way, n));
            }
        };
        check("hyde", json!({"n": 2}), Some(RewriteMethod::Hyde), Some(2));
        check("hyde", json!({"by": "hyde", "n": 2}), Some(RewriteMethod::Hyde), Some(2));
        check("hyde", json!({"by": null, "n": 2}), Some(RewriteMethod::Hyde), Some(2));
        check("hyde", json!({"by": "fusion", "n": 2}), Some(RewriteMethod::Hyde), None);
        check("hyde", json!("fusion"), Some(RewriteMethod::Hyde), None);
        check("none", json!({"by": "fusion"}), None, None);
        check("none", json!("fusion"), None, None);
    }

    #[test]
    fn what_is_not_built_in_is_listed_with_its_source() {
        let layers = layers(
            json!({"k": 3}),
            json!({
                "retrieve": {"rerank": null, "filter": {"customer": "Smith"}},
                "answer": {"history": [{"role": "user", "content": "Who is Smith?"}]},
            }),
            json!({"retrieve": {"mmr": 0.5, "rerank": "llm"}, "cite": {"style": "footnote"}}),
        );
        let setting = |option, value: &str| SettingInForce {
            option,
            source: OptionSource::Setting("rag.some"),
            value: value.to_owned(),
        };
        assert_eq!(
            layers.listed(&[setting("llm", "writer"), setting("cite.style", "link")]),
            [
                "k = 3 (call)",
                "llm = writer (setting rag.some)",
                "retrieve.filter (call)",
                "retrieve.rerank = null (call)",
                "retrieve.mmr = 0.5 (pipeline)",
                "answer.history (call)",
                "cite.style = footnote (pipeline)",
            ]
        );
        let nulls = json!({"llm": null, "k": null, "verify": null, "context": {"headers": null}});
        let defaults = json!({"llm": "a", "verify": {"by": "none", "llm": null}});
        assert_eq!(
            self::layers(json!({}), nulls, defaults).listed(&[setting("llm", "writer")]),
            ["llm = writer (setting rag.some)", "verify.by = null (call)"]
        );
        let fitted = |option| SettingInForce {
            option,
            source: OptionSource::Calibration,
            value: "0.5".to_owned(),
        };
        let said = json!({"retrieve": {"closeness": true}});
        assert_eq!(
            self::layers(json!({}), said, json!({}))
                .listed(&[fitted("retrieve.dense_weight"), fitted("retrieve.closeness")]),
            ["retrieve.dense_weight = 0.5 (model)", "retrieve.closeness = true (call)"]
        );
        let long = json!({"cite": {"link_template": "x".repeat(1000)}});
        let listed = self::layers(json!({}), long, json!({})).listed(&[]);
        assert!(listed[0].len() < 150, "{listed:?}");
    }
}
