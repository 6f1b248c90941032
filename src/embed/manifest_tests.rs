//! Folders as they are found in the wild, and folders that are wrong.

use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

const BERT: &str = r#"{"model_type": "bert", "hidden_size": 384,
    "max_position_embeddings": 512, "pad_token_id": 0}"#;

/// A model folder that is removed at the end of the test.
struct Sample(PathBuf);

impl Sample {
    fn new(files: &[(&str, &str)]) -> Sample {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let sample = Sample(
            std::env::temp_dir().join(format!("pg_rag-manifest-{}-{number}", std::process::id())),
        );
        for (name, content) in files {
            sample.write(name, content);
        }
        sample
    }

    /// The least that makes a model, and `files`.
    fn model(files: &[(&str, &str)]) -> Sample {
        let sample = Sample::new(&[
            ("config.json", BERT),
            ("tokenizer.json", "{}"),
            ("model.onnx", "graph"),
        ]);
        for (name, content) in files {
            sample.write(name, content);
        }
        sample
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self) -> Result<Manifest> {
        Manifest::read(self.0.to_str().unwrap(), None)
    }

    fn error(&self) -> Error {
        self.read().unwrap_err()
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_plain_transformer_has_mean_pooling_and_length_1() {
    let manifest = Sample::model(&[]).read().unwrap();
    assert_eq!(manifest.dimension, 384);
    assert_eq!(manifest.max_tokens, 512);
    assert_eq!(manifest.pooling, Pooling::Mean);
    assert!(manifest.normalize);
    assert_eq!(manifest.files, ["model.onnx", "tokenizer.json", "config.json"]);
    assert!(manifest.absent.contains(&"modules.json".to_string()));
}

#[test]
fn modules_decide_pooling_and_normalisation() {
    let modules = r#"[{"path": "", "type": "sentence_transformers.models.Transformer"},
        {"path": "2_Pool", "type": "sentence_transformers.models.Pooling"}]"#;
    let pooling = r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#;
    let sample = Sample::model(&[("modules.json", modules), ("2_Pool/config.json", pooling)]);
    let manifest = sample.read().unwrap();
    assert_eq!(manifest.pooling, Pooling::Cls);
    assert!(!manifest.normalize);
    assert!(manifest.files.contains(&"2_Pool/config.json".to_string()));

    sample.write("2_Pool/config.json", r#"{"pooling_mode": "lasttoken"}"#);
    assert_eq!(sample.read().unwrap().pooling, Pooling::Last);
}

#[test]
fn the_smallest_limit_on_length_counts() {
    let check = |files: &[(&str, &str)], expected: u32| {
        assert_eq!(Sample::model(files).read().unwrap().max_tokens, expected, "{files:?}");
    };
    let endless = r#"{"model_max_length": 1000000000000000019884624838656}"#;
    let roberta = r#"{"model_type": "xlm-roberta", "hidden_size": 8, "pad_token_id": 1,
        "max_position_embeddings": 514}"#;
    check(&[("sentence_bert_config.json", r#"{"max_seq_length": 256}"#)], 256);
    check(&[("sentence_bert_config.json", r#"{"max_seq_length": 8192}"#)], 512);
    check(&[("sentence_bert_config.json", r#"{"max_seq_length": null}"#)], 512);
    check(&[("tokenizer_config.json", r#"{"model_max_length": 128}"#)], 128);
    check(&[("tokenizer_config.json", endless)], 512);
    check(&[("config.json", roberta), ("tokenizer_config.json", endless)], 512);
    check(&[("config.json", r#"{"hidden_size": 8}"#)], 512);
}

#[test]
fn prompts_become_prefixes() {
    let e5 = r#"{"prompts": {"query": "query: ", "passage": "passage: "}}"#;
    let manifest = Sample::model(&[("config_sentence_transformers.json", e5)]).read().unwrap();
    assert_eq!((&*manifest.query_prefix, &*manifest.passage_prefix), ("query: ", "passage: "));

    let one = r#"{"prompts": {"query": "", "all": "text: "}, "default_prompt_name": "all"}"#;
    let manifest = Sample::model(&[("config_sentence_transformers.json", one)]).read().unwrap();
    assert_eq!((&*manifest.query_prefix, &*manifest.passage_prefix), ("", "text: "));

    let none = r#"{"prompts": {}, "default_prompt_name": null}"#;
    let manifest = Sample::model(&[("config_sentence_transformers.json", none)]).read().unwrap();
    assert_eq!((&*manifest.query_prefix, &*manifest.passage_prefix), ("", ""));
}

#[test]
fn weights_beside_the_graph_belong_to_it() {
    let sample = Sample::model(&[("model.onnx_data", "w"), ("model.onnx.bak", "old")]);
    assert_eq!(sample.read().unwrap().files[..2], ["model.onnx", "model.onnx_data"]);
}

#[test]
fn the_onnx_file_is_found_in_the_usual_places() {
    let sample = Sample::new(&[
        ("config.json", BERT),
        ("tokenizer.json", "{}"),
        ("onnx/model_int8.onnx", "small"),
    ]);
    assert_eq!(sample.read().unwrap().file, "onnx/model_int8.onnx");
    sample.write("onnx/model.onnx", "large");
    assert_eq!(sample.read().unwrap().file, "onnx/model.onnx");
    let named = Manifest::read(sample.0.to_str().unwrap(), Some("onnx/model_int8.onnx")).unwrap();
    assert_eq!(named.file, "onnx/model_int8.onnx");
}

#[test]
fn a_file_outside_the_folder_is_refused() {
    let outside = Sample::new(&[("secret", "x")]);
    let sample = Sample::model(&[]);
    symlink(outside.0.join("secret"), sample.0.join("link.onnx")).unwrap();
    for file in ["../x.onnx", "/etc/passwd", "", "link.onnx", "onnx/../../x"] {
        let error = Manifest::read(sample.0.to_str().unwrap(), Some(file)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{file}: {error}");
    }
}

#[test]
fn a_cache_of_hugging_face_is_a_model() {
    let cache = Sample::new(&[("blobs/1", "graph"), ("blobs/2", BERT), ("blobs/3", "{}")]);
    let snapshot = cache.0.join("snapshots/abc");
    fs::create_dir_all(&snapshot).unwrap();
    for (blob, name) in [("1", "model.onnx"), ("2", "config.json"), ("3", "tokenizer.json")] {
        symlink(format!("../../blobs/{blob}"), snapshot.join(name)).unwrap();
    }
    assert_eq!(Manifest::read(snapshot.to_str().unwrap(), None).unwrap().dimension, 384);
}

#[test]
fn what_is_missing_is_named() {
    let error = Manifest::read("/nowhere/at/all", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FileUnavailable);
    assert!(error.message().contains("\"/nowhere/at/all\": no such file"), "{error}");

    for file in ["model.onnx", "tokenizer.json", "config.json"] {
        let sample = Sample::model(&[]);
        fs::remove_file(sample.0.join(file)).unwrap();
        let error = sample.error();
        assert_eq!(error.kind(), ErrorKind::FileUnavailable, "{file}: {error}");
        let words = format!("{error} {}", error.detail_text().unwrap_or_default());
        assert!(words.contains(file), "{words}");
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let check = |file: &str, content: &str, kind: ErrorKind, word: &str| {
        let sample = Sample::model(&[("modules.json", POOLED), (file, content)]);
        let error = sample.error();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(file), "{error}");
        assert!(error.message().contains(word), "{error}");
    };
    const POOLED: &str = r#"[{"path": "1_Pooling", "type": "x.Pooling"}]"#;
    const DENSE: &str = r#"[{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]"#;
    let max = r#"{"pooling_mode_max_tokens": true}"#;
    let two = r#"{"pooling_mode_mean_tokens": true, "pooling_mode_cls_token": true}"#;
    check("config.json", "{", ErrorKind::FileCorrupted, "not JSON");
    check("config.json", "[]", ErrorKind::FileCorrupted, "hidden_size");
    check("config.json", r#"{"hidden_size": 0}"#, ErrorKind::FileCorrupted, "hidden_size");
    check("modules.json", "{}", ErrorKind::FileCorrupted, "not a list");
    check("modules.json", "[{}]", ErrorKind::FileCorrupted, "type");
    check("modules.json", DENSE, ErrorKind::Unsupported, "Dense");
    check("1_Pooling/config.json", max, ErrorKind::Unsupported, "max_tokens");
    check("1_Pooling/config.json", two, ErrorKind::Unsupported, "+");
    check("1_Pooling/config.json", "[]", ErrorKind::FileCorrupted, "no pooling");
    check("1_Pooling/config.json", "7", ErrorKind::FileCorrupted, "no pooling");
}

#[test]
fn a_head_that_classifies_makes_a_reranker() {
    let task = |rest: &str| {
        let config = format!(r#"{{"hidden_size": 8, {rest}}}"#);
        Sample::model(&[("config.json", &config)]).read().map(|manifest| manifest.task)
    };
    let classifier = r#""architectures": ["XLMRobertaForSequenceClassification"]"#;
    assert_eq!(task(r#""architectures": ["BertModel"]"#).unwrap(), ModelTask::Embed);
    assert_eq!(task(r#""architectures": null"#).unwrap(), ModelTask::Embed);
    assert_eq!(task(classifier).unwrap(), ModelTask::Rerank);
    assert_eq!(task(&format!(r#"{classifier}, "num_labels": 2"#)).unwrap(), ModelTask::Rerank);
    let error = task(&format!(r#"{classifier}, "id2label": {{"0": "a", "1": "b", "2": "c"}}"#));
    assert!(error.unwrap_err().message().contains("3 labels"));
}

#[test]
fn what_only_embedding_models_have_decides_nothing_of_a_reranker() {
    let classifier = r#"{"hidden_size": 8, "architectures": ["BertForSequenceClassification"]}"#;
    let manifest = |config: &str, others: &[(&str, &str)]| {
        let sample = Sample::model(&[("config.json", config)]);
        others.iter().for_each(|(name, content)| sample.write(name, content));
        let read = sample.read().unwrap();
        (read.files, read.absent, read.reader, read.calibration.is_some())
    };
    let calibration = Calibration::generic().unwrap().to_json().unwrap();
    let others = [(READER, "graph"), (CALIBRATION_FILE, calibration.as_str())];
    let (alone, beside) = (manifest(classifier, &[]), manifest(classifier, &others));
    assert_eq!(alone, beside);
    assert_eq!((&beside.2, beside.3), (&None, false));
    let names = others.map(|(name, _)| name.to_owned());
    assert!(names.iter().all(|it| !beside.0.contains(it) && !beside.1.contains(it)));

    let (alone, beside) = (manifest(BERT, &[]), manifest(BERT, &others));
    assert!(names.iter().all(|it| alone.1.contains(it) && beside.0.contains(it)));
    assert_eq!((beside.2.as_deref(), beside.3), (Some(READER), true));
}

#[test]
fn a_model_of_inference_says_which_label_is_entailment() {
    let entailment = |labels: &str| {
        let config = format!(
            r#"{{"hidden_size": 8, "architectures": ["BertForSequenceClassification"], "id2label": {labels}}}"#
        );
        let read = Sample::model(&[("config.json", &config)]).read();
        read.map(|manifest| (manifest.task, manifest.entailment)).ok()
    };
    let three = r#"{"0": "contradiction", "1": "ENTAILMENT", "2": "neutral"}"#;
    assert_eq!(entailment(three), Some((ModelTask::Rerank, Some(1))));
    let two = r#"{"0": "not_entailment", "1": "entailment"}"#;
    assert_eq!(entailment(two), Some((ModelTask::Rerank, Some(1))));
    assert_eq!(entailment(r#"{"0": "LABEL_0"}"#), Some((ModelTask::Rerank, None)));
    assert_eq!(entailment(r#"{"7": "entailment", "1": "b", "2": "c"}"#), None);
}

#[test]
fn a_token_classifier_names_its_labels() {
    let read = |labels: &str| {
        let config = format!(
            r#"{{"hidden_size": 8, "architectures": ["BertForTokenClassification"]{labels}}}"#
        );
        Sample::model(&[("config.json", &config)]).read()
    };
    // Numbers are texts in JSON, and may be in any order.
    let manifest = read(r#", "id2label": {"1": "B-X", "0": "O", "2": "I-X"}"#).unwrap();
    assert_eq!((manifest.task, manifest.entailment), (ModelTask::ClassifyTokens, None));
    let labels = manifest.labels.unwrap();
    let names = labels.names("a b", &[(0, 1), (2, 3)], &[1, 2]);
    assert_eq!((labels.count(), names.len(), names[0].place.clone()), (3, 1, 0..3));
    let check = |labels: &str, kind: ErrorKind, part: &str| {
        let error = read(labels).unwrap_err();
        assert!(error.kind() == kind && error.message().contains(part), "{error}");
    };
    check("", ErrorKind::FileCorrupted, "no \"id2label\"");
    check(r#", "id2label": {}"#, ErrorKind::FileCorrupted, "no \"id2label\"");
    check(r#", "id2label": {"1": "O"}"#, ErrorKind::FileCorrupted, "count from 0");
    check(r#", "id2label": {"0": 7}"#, ErrorKind::FileCorrupted, "count from 0");
    check(r#", "id2label": {"0": "LABEL_0"}"#, ErrorKind::Unsupported, "without the label \"O\"");
    check(r#", "id2label": {"0": "O", "1": "B-"}"#, ErrorKind::Unsupported, "names no kind");
}

#[test]
fn a_calibration_is_one_of_the_files() {
    let calibration = Calibration::generic().unwrap().to_json().unwrap().replacen(
        "\"texts\": null",
        r#""texts": {"unrelated": 0.7, "related": 0.9}"#,
        1,
    );
    let none = Sample::model(&[]).read().unwrap();
    assert_eq!(none.calibration, None);
    assert!(none.absent.contains(&CALIBRATION_FILE.to_string()));
    let read = Sample::model(&[(CALIBRATION_FILE, &calibration)]).read().unwrap();
    assert_eq!(read.calibration.unwrap().texts.unwrap().unrelated, 0.7);
    assert!(read.files.contains(&CALIBRATION_FILE.to_string()));
}

#[test]
fn a_calibration_that_cannot_be_understood_is_told_with_its_path() {
    let text = Calibration::generic().unwrap().to_json().unwrap().replace("\"held\"", "\"hold\"");
    let error = Sample::model(&[(CALIBRATION_FILE, &text)]).error();
    assert_eq!(error.kind(), ErrorKind::FileCorrupted);
    let message = error.message();
    assert!(message.contains(CALIBRATION_FILE) && message.contains("signal \"hold\""), "{error}");
}

/// The configuration of static embeddings, with `rest` behind it.
fn of_model2vec(rest: &str) -> String {
    format!(
        r#"{{"model_type": "model2vec", "architectures": ["StaticModel"], "hidden_dim": 7,
            "seq_length": 1000000{rest}}}"#
    )
}

/// A table of three vectors of two zeros each, with this type of its numbers.
fn table(dtype: &str) -> String {
    let header = format!(
        r#"{{"embeddings": {{"dtype": "{dtype}", "shape": [3, 2], "data_offsets": [0, 24]}}}}"#
    );
    // Neither is longer than 127 bytes, so that their lengths are characters.
    let length = String::from_utf8((header.len() as u64).to_le_bytes().to_vec()).unwrap();
    format!("{length}{header}{}", "\0".repeat(24))
}

#[test]
fn static_embeddings_are_told_by_their_configuration() {
    let config = of_model2vec(r#", "normalize": true"#);
    // Neither a graph nor the modules of sentence-transformers matter beside them.
    let modules = r#"[{"path": ".", "type": "sentence_transformers.models.StaticEmbedding"}]"#;
    let sample = Sample::model(&[
        ("config.json", &config),
        ("model.safetensors", &table("F32")),
        ("modules.json", modules),
        (READER, "graph"),
    ]);
    let manifest = sample.read().unwrap();
    assert_eq!((manifest.task, manifest.file.as_str()), (ModelTask::Embed, "model.safetensors"));
    assert_eq!((manifest.dimension, manifest.max_tokens), (2, 512));
    assert_eq!((manifest.pooling, manifest.normalize), (Pooling::Mean, true));
    assert_eq!(manifest.files, ["model.safetensors", "tokenizer.json", "config.json"]);
    assert_eq!(
        (manifest.table.as_ref().map(|it| it.dimension), manifest.reader()),
        (Some(2), None)
    );

    let prompts = r#"{"prompts": {"query": "query: "}}"#;
    sample.write("config_sentence_transformers.json", prompts);
    sample.write("tokenizer_config.json", r#"{"model_max_length": 99}"#);
    sample.write("config.json", &of_model2vec(""));
    sample.write("other.safetensors", &table("F32"));
    let folder = sample.0.to_str().unwrap();
    let manifest = Manifest::read(folder, Some("other.safetensors")).unwrap();
    assert_eq!((manifest.file.as_str(), manifest.normalize), ("other.safetensors", false));
    assert_eq!((manifest.max_tokens, manifest.query_prefix.as_str()), (99, "query: "));
    assert!(manifest.files.contains(&"config_sentence_transformers.json".to_string()));

    let error = Manifest::read(folder, Some("model.onnx")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.hint_text().is_some_and(|hint| hint.contains("model.safetensors")), "{error}");
}

#[test]
fn a_table_that_is_none_is_named() {
    let check = |table: &str, rest: &str, kind: ErrorKind, file: &str, part: &str| {
        let sample = Sample::model(&[("config.json", &of_model2vec(rest))]);
        if !table.is_empty() {
            sample.write("model.safetensors", table);
        }
        let error = sample.error();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().contains(file) && error.message().contains(part), "{error}");
    };
    let good = table("F32");
    let (damaged, other) = (ErrorKind::FileCorrupted, ErrorKind::Unsupported);
    check("", "", ErrorKind::FileUnavailable, "model.safetensors", "no such file");
    check("short", "", damaged, "model.safetensors", "no header");
    check("not a table at all", "", damaged, "model.safetensors", "longer than the file");
    check(&good[..40], "", damaged, "model.safetensors", "longer than the file");
    check(&good[..good.len() - 1], "", damaged, "model.safetensors", "there are 23");
    check(&table("F64"), "", damaged, "model.safetensors", "another length");
    check(
        &table("F32").replace("embeddings", "embedding."),
        "",
        other,
        "model.safetensors",
        "embedding.",
    );
    check(&good, r#", "normalize": "yes""#, damaged, "config.json", "normalize");
}
