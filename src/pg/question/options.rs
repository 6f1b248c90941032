//! With which options a question is asked: those of the call, over those of its pipeline, over settings.

use crate::answer::strategy::{self, AnswerStrategy, StrategyOptions};
use crate::error::Result;
use crate::exact;
use crate::extract::EXTRACTIVE;
use crate::options::shortened;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::{model, question_defaults};
use crate::pg::ragd::calibration::retrieval_weights;
use crate::pg::ragd::llm::Llm;
use crate::pg::ragd::trace;
use crate::pg::server::guc::{self, Caching};
use crate::pg::server::json::ExactJsonb;
use crate::pg::server::options;
use crate::prompt::sampling::SamplingPreset;
use crate::redact::withheld::WithheldValues;
use crate::request::{
    OptionLayers, OptionSource, QuestionArguments, QuestionOptions, SettingInForce, WrittenOptions,
};
use crate::rerank::LATE_INTERACTION;
use crate::retrieve::options::Fusion;
use crate::verify::options::VerifyOptions;

/// What a call says, before it is known which pipeline is asked.
#[derive(Clone)]
pub struct CallOptions {
    layers: OptionLayers,
    /// What the call says, without the defaults of a pipeline.
    pub options: QuestionOptions,
    /// What is kept from the providers that are asked for the question.
    pub withheld: WithheldValues,
    /// Whether no replies are kept, whatever the options say.
    keeps_no_replies: bool,
}

/// What holds for a question of a pipeline, or of several.
#[derive(Clone)]
pub struct AskedOptions {
    layers: OptionLayers,
    /// All options.
    pub options: QuestionOptions,
    /// What is kept from the providers that are asked.
    pub withheld: WithheldValues,
    /// The names of the pipelines.
    pipeline: String,
}

impl CallOptions {
    /// Reads the arguments and the options of a call.
    pub fn read(
        arguments: &QuestionArguments<'_>,
        options: Option<ExactJsonb>,
    ) -> Result<CallOptions> {
        let options = WrittenOptions::read(options::object(options)?)?;
        CallOptions::of(arguments.written()?, options)
    }

    /// The arguments and the options of a call, which have been read.
    pub fn of(arguments: WrittenOptions, options: WrittenOptions) -> Result<CallOptions> {
        let layers = OptionLayers { arguments, options, defaults: WrittenOptions::default() };
        let (options, withheld) = (layers.options()?, WithheldValues::default());
        Ok(CallOptions { options, layers, withheld, keeps_no_replies: false })
    }

    /// Options of a question that is answered: what one of its calls keeps from a provider, the later ones do, too.
    #[must_use]
    pub fn for_answer(self) -> CallOptions {
        CallOptions { withheld: WithheldValues::begin(), ..self }
    }

    /// Options of a question of which no replies are kept or looked up in the database.
    #[must_use]
    pub fn without_kept_replies(self) -> CallOptions {
        CallOptions { keeps_no_replies: true, ..self }
    }

    /// What holds for the call where it asks `pipeline`, which the caller has named or not.
    pub fn of_pipeline(&self, pipeline: &Pipeline, is_named: bool) -> Result<AskedOptions> {
        self.with_defaults(pipeline, question_defaults::for_caller(pipeline, is_named)?)
    }

    /// What holds for the call where it asks all of `pipelines`, each of which the caller has named or not: of their
    /// defaults, those that are the same in each.
    pub fn of_pipelines(&self, pipelines: &[(&Pipeline, bool)]) -> Result<AskedOptions> {
        let mut common: Option<WrittenOptions> = None;
        for (pipeline, is_named) in pipelines {
            let defaults = question_defaults::for_caller(pipeline, *is_named)?;
            common = Some(match common {
                None => defaults,
                Some(common) => common.common(&defaults),
            });
        }
        let names: Vec<&str> = pipelines.iter().map(|(it, _)| it.name.as_str()).collect();
        self.over(common.unwrap_or_default(), names.join(", "))
    }

    /// What holds for the call where it asks `pipeline`, if that has these defaults.
    pub fn with_defaults(
        &self,
        pipeline: &Pipeline,
        defaults: WrittenOptions,
    ) -> Result<AskedOptions> {
        self.over(defaults, pipeline.name.clone())
    }

    fn over(&self, defaults: WrittenOptions, pipeline: String) -> Result<AskedOptions> {
        let layers = OptionLayers { defaults, ..self.layers.clone() };
        let mut options = layers.options()?;
        if self.keeps_no_replies {
            options.answer.keep_replies = Some(false);
        }
        Ok(AskedOptions { layers, options, withheld: self.withheld.clone(), pipeline })
    }

    /// The language model of the question, as far as the call and the settings say.
    pub fn llm(&self) -> Result<Llm> {
        Ok(Llm::or_default(self.options.llm.as_deref())?.withholding(&self.withheld))
    }
}

impl AskedOptions {
    /// The language model of the question.
    pub fn llm(&self) -> Result<Llm> {
        let llm = self.named(&["llm"], Llm::or_default(self.options.llm.as_deref()))?;
        Ok(llm.withholding(&self.withheld))
    }

    /// The strategy, and those options that it reads. An option of another strategy is an error if the call
    /// has it; the defaults of a pipeline are for all strategies.
    pub fn strategy(&self) -> Result<(&'static AnswerStrategy, StrategyOptions)> {
        let strategy = strategy::named(self.options.answer.strategy.as_deref())?;
        let wrote = |name: &str| self.is_said_by_call(&format!("answer.{name}"));
        Ok((strategy, self.options.answer.of_strategy().fitted(strategy, wrote)?))
    }

    /// Whether it is the call that says the value of the option `path`.
    pub fn is_said_by_call(&self, path: &str) -> bool {
        self.layers.source(path) == Some(OptionSource::Call)
    }

    /// What was looked up by the options `paths`; an error says so where one of them is a default of the
    /// pipeline.
    pub fn named<T>(&self, paths: &[&str], found: Result<T>) -> Result<T> {
        found.map_err(|error| {
            let of_pipeline = paths.iter().find_map(|path| match self.layers.said(path)? {
                (OptionSource::Pipeline, value) if !value.is_null() => Some((path, value)),
                _ => None,
            });
            let Some((path, value)) = of_pipeline else { return error };
            let pipeline = &self.pipeline;
            let value = shortened(&exact::written(value));
            error.fact(format!("The defaults of pipeline \"{pipeline}\" say \"{path}\": {value}."))
        })
    }

    /// The preset of sampling, where the options have left it to the question.
    fn settled_preset(&self) -> Option<SamplingPreset> {
        let (_, said) = self.layers.said("answer.preset")?;
        self.options.answer.preset.filter(|_| *said == SamplingPreset::Auto.to_string())
    }

    /// Notes in the trace what is not built in, if there is anything, and what says so. `llm` writes, and `models` are
    /// those of the pipelines.
    pub fn trace(&self, llm: &Llm, models: &[&str]) -> Result<()> {
        if !trace::is_recording() {
            return Ok(());
        }
        let mut settings = settings(llm);
        settings.extend(self.fitted(models));
        let listed = self.layers.listed(&settings);
        if listed.is_empty() {
            return Ok(());
        }
        trace::step(
            "options",
            || listed.join(", "),
            || {
                if let Some(filter) = &self.options.retrieve.filter {
                    trace::words(|| exact::written(filter));
                }
                if let Some(preset) = self.settled_preset() {
                    trace::remark(|| format!("preset {preset} by the question"));
                }
                Ok(())
            },
        )
    }

    /// What was fitted to the model of all pipelines, as far as their searches go by it: nothing of several models. Where
    /// it cannot be read there is nothing to list, and the search says why.
    fn fitted(&self, models: &[&str]) -> Vec<SettingInForce> {
        let retrieve = &self.options.retrieve;
        let by_reranker =
            retrieve.reranker() == Some(LATE_INTERACTION) && retrieve.rerank_weight.is_none();
        let [first, others @ ..] = models else { return Vec::new() };
        let is_one = others.iter().all(|it| it == first);
        if !is_one || !(by_reranker || retrieve.is_left_to_model()) {
            return Vec::new();
        }
        let Ok(model) = model::find(Some(*first)) else { return Vec::new() };
        let weights = retrieval_weights(&model.reference).unwrap_or_default();
        let by_fusion = retrieve.is_left_to_model() && model.remote.is_none();
        let looks_closer = by_fusion && retrieve.fusion() == Fusion::Combined;
        [
            ("retrieve.dense_weight", weights.dense_weight.filter(|_| by_fusion)),
            ("retrieve.closeness", weights.closeness.filter(|_| looks_closer)),
            ("retrieve.rerank_weight", weights.late_interaction_weight.filter(|_| by_reranker)),
        ]
        .into_iter()
        .filter_map(|(option, weight)| {
            let source = OptionSource::Calibration;
            Some(SettingInForce { option, source, value: weight?.to_string() })
        })
        .collect()
    }
}

/// The settings that hold where nothing else is said, as far as they are not as they come, and what holds for a
/// language model on this machine.
fn settings(writer: &Llm) -> Vec<SettingInForce> {
    let llm = Some(guc::llm()).filter(|it| it != EXTRACTIVE);
    let confidence = guc::min_confidence().map(|it| it.to_string());
    let cache = Some(guc::cache()).filter(|it| *it != Caching::Off);
    let cache = cache.map(|it| it.name().to_owned());
    let (unsupported, low_confidence) = VerifyOptions::LOCAL_DEFAULTS;
    let local = |value: String| writer.is_local().then_some(value);
    [
        ("llm", OptionSource::Setting("rag.llm"), llm),
        ("answer.min_confidence", OptionSource::Setting("rag.min_confidence"), confidence),
        ("answer.cache", OptionSource::Setting("rag.cache"), cache),
        ("verify.unsupported", OptionSource::LocalModel, local(unsupported.to_string())),
        ("verify.low_confidence", OptionSource::LocalModel, local(low_confidence.to_string())),
    ]
    .into_iter()
    .filter_map(|(option, source, value)| Some(SettingInForce { option, source, value: value? }))
    .collect()
}
