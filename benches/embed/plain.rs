//! The other side: ONNX Runtime with its defaults, in this process, batches of 32 texts
//! sorted by length. No socket, no queue, no other client.

use ort::session::Session;
use ort::value::Tensor;
use pg_rag::daemon::tokenizer::ModelTokenizer;
use pg_rag::embed::manifest::Manifest;
use pg_rag::embed::pooling::{Pooling, normalize};
use pg_rag::protocol::ModelRef;

use crate::ragd::{Installed, THREADS};

const BATCH: usize = 32;

/// A model in this process.
pub struct Plain {
    _environment: ort::environment::Environment,
    session: Session,
    tokenizer: ModelTokenizer,
    dimension: usize,
}

impl Plain {
    /// Loads a model of mean pooling.
    pub fn load(installed: &Installed, model: &ModelRef) -> Plain {
        let manifest = Manifest::read(&model.path, model.file.as_deref()).unwrap();
        let environment = ort::init_from(installed.library()).unwrap().build().unwrap();
        let session = Session::builder(&environment)
            .unwrap()
            .with_intra_threads(THREADS)
            .unwrap()
            .commit_from_file(manifest.file_path())
            .unwrap();
        let tokenizer = ModelTokenizer::read(&manifest).unwrap();
        let dimension = manifest.dimension as usize;
        Plain { _environment: environment, session, tokenizer, dimension }
    }

    /// The vectors of texts, and their tokens.
    pub fn embed(&mut self, texts: &[String]) -> (Vec<Vec<f32>>, u64) {
        let tokens: Vec<_> =
            texts.iter().map(|text| self.tokenizer.encode(text).unwrap()).collect();
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(tokens[at].len()));
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in order.chunks(BATCH) {
            let rows: Vec<&[u32]> = batch.iter().map(|&at| &*tokens[at]).collect();
            for (&at, vector) in batch.iter().zip(self.run(&rows)) {
                vectors[at] = vector;
            }
        }
        (vectors, tokens.iter().map(|tokens| tokens.len() as u64).sum())
    }

    fn run(&mut self, rows: &[&[u32]]) -> Vec<Vec<f32>> {
        let length = rows[0].len();
        let fill = |value: &dyn Fn(&[u32], usize) -> i64| {
            let values = rows.iter().flat_map(|row| (0..length).map(|at| value(row, at)));
            Tensor::from_array(([rows.len(), length], values.collect::<Vec<i64>>())).unwrap()
        };
        let outputs = self
            .session
            .run(ort::inputs![
                "input_ids" => fill(&|row, at| row.get(at).copied().unwrap_or(0).into()),
                "attention_mask" => fill(&|row, at| i64::from(at < row.len())),
                "token_type_ids" => fill(&|_, _| 0),
            ])
            .unwrap();
        let (_, hidden) = outputs[0].try_extract_tensor::<f32>().unwrap();
        let texts = hidden.chunks_exact(length * self.dimension).zip(rows);
        texts
            .map(|(hidden, row)| {
                let mut vector = Pooling::Mean.pool(hidden, row.len(), self.dimension);
                normalize(&mut vector);
                vector
            })
            .collect()
    }
}
