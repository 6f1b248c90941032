//! The language model and the library with which local models are tested.

use std::path::{Path, PathBuf};

use pg_rag::daemon::connection::ClientConnection;
use pg_rag::error::Result;
use pg_rag::prompt::sampling::SamplingParameters;
use pg_rag::protocol::{
    CallLimits, GenerateRequest, Generated, GgufFile, KeySource, LOCAL_API, Lane, Message, Network,
    ProviderConfig, Request, Response, Special,
};

use super::ragd::{Ragd, cache};

/// A path at which there is no ONNX Runtime: none is wanted.
const NO_ONNXRUNTIME: &str = "/nowhere/libonnxruntime.so";

/// llama.cpp and SmolLM2, as `make test-llm` puts them into the cache.
pub struct InstalledLlm {
    library: PathBuf,
    file: GgufFile,
}

impl InstalledLlm {
    /// Finds both, or says that what needs them is skipped.
    pub fn find() -> Option<InstalledLlm> {
        let library = cache().join("llama/libllama.so");
        let usual = || cache().join("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf");
        let named = std::env::var_os("PG_RAG_TEST_GGUF");
        let path = named.map_or_else(usual, PathBuf::from);
        if !library.is_file() || !path.is_file() {
            println!("skipped: no llama.cpp or no {}; make test-llm gets them", path.display());
            return None;
        }
        let file = describe(&mut Ragd::start().connect(), &path).unwrap();
        Some(InstalledLlm { library, file })
    }

    /// A ragd that can run the model.
    pub fn start(&self) -> Ragd {
        self.start_with(&[])
    }

    /// One with further arguments.
    pub fn start_with(&self, arguments: &[&str]) -> Ragd {
        self.launch(Path::new(NO_ONNXRUNTIME), arguments)
    }

    /// One that embeds too, with the ONNX Runtime at `onnxruntime`.
    pub fn start_with_onnxruntime(&self, onnxruntime: &Path) -> Ragd {
        self.launch(onnxruntime, &[])
    }

    fn launch(&self, onnxruntime: &Path, arguments: &[&str]) -> Ragd {
        let library = self.library.to_str().unwrap();
        let mut local = vec!["--llama", library, "--llama-memory", "4000000000"];
        if !arguments.contains(&"--llama-threads") {
            local.extend(["--llama-threads", "1"]);
        }
        Ragd::start_with(onnxruntime, &[&local[..], arguments].concat())
    }

    /// Where llama.cpp is.
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// The model's file.
    pub fn file(&self) -> &GgufFile {
        &self.file
    }

    /// A request for a text of the model, the likeliest.
    pub fn request(&self, question: &str, max_tokens: u32) -> GenerateRequest {
        request(self.file.clone(), question, max_tokens)
    }
}

/// A request for the likeliest text of the model in `file`.
pub fn request(file: GgufFile, question: &str, max_tokens: u32) -> GenerateRequest {
    GenerateRequest {
        provider: ProviderConfig {
            name: "writer".into(),
            api: LOCAL_API.into(),
            base_url: String::new(),
            model: "smollm2".into(),
            api_key: KeySource::None,
            connect_timeout_ms: 1000,
            timeout_ms: 600_000,
            max_retries: 0,
            special: Special { file: Some(file), ..Special::default() },
            limits: CallLimits::default(),
            network: Network::default(),
        },
        messages: vec![Message { role: "user".into(), content: question.into() }],
        sampling: SamplingParameters::of_temperature(0.0),
        max_tokens: Some(max_tokens),
        schema: None,
        tools: None,
        lane: Lane::Query,
    }
}

/// What the file at `path` is known by.
pub fn describe(client: &mut ClientConnection, path: &Path) -> Result<GgufFile> {
    let path = path.to_str().unwrap().to_owned();
    match client.call(&Request::DescribeLocal { path: path.clone() })? {
        Response::LocalModel(info) => {
            Ok(GgufFile { path, digest: info.digest, trained_tokens: info.context_tokens })
        }
        other => panic!("{other:?}"),
    }
}

/// Has the model write.
pub fn generate(client: &mut ClientConnection, request: GenerateRequest) -> Result<Generated> {
    match client.call(&Request::Generate(request))? {
        Response::Text(text) => Ok(text),
        other => panic!("{other:?}"),
    }
}
