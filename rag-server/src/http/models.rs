//! `/v1/models`: the pipelines that the role sees, as models.

use std::sync::Arc;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::StatusCode;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::Caller;
use crate::failure::Failure;
use crate::pipelines::{self, Pipeline};

/// All of them, by name.
pub async fn list(Extension(caller): Extension<Arc<Caller>>) -> Result<Json<Value>, Failure> {
    let pipelines = pipelines::list(&mut caller.database.lease().await?).await?;
    let models: Vec<Value> = pipelines.iter().map(model).collect();
    Ok(Json(json!({"object": "list", "data": models})))
}

/// The one of this name. A name that no pipeline has that the role sees is 404.
pub async fn retrieve(
    Extension(caller): Extension<Arc<Caller>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, Failure> {
    let Path(name) =
        name.map_err(|_| Failure::request("the name of a model must be UTF-8").param("model"))?;
    let pipelines = pipelines::list(&mut caller.database.lease().await?).await?;
    named(&pipelines, &name).map(Json)
}

fn named(pipelines: &[Pipeline], name: &str) -> Result<Value, Failure> {
    let found = pipelines.iter().find(|pipeline| pipeline.name == name);
    found.map(model).ok_or_else(|| {
        let message = format!("there is no pipeline {name:?} that the role sees");
        let missing = Failure::new(StatusCode::NOT_FOUND, "model_not_found", message);
        missing.param("model").hint("GET /v1/models lists those that there are")
    })
}

fn model(pipeline: &Pipeline) -> Value {
    json!({
        "id": pipeline.name,
        "object": "model",
        "created": pipeline.created,
        "owned_by": "pg_rag",
        "description": pipeline.description,
        "filters": pipeline.filters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline(name: &str) -> Pipeline {
        Pipeline {
            name: name.to_owned(),
            source: "docs".to_owned(),
            description: Some("what customers ask".to_owned()),
            model: "multilingual-e5-small".to_owned(),
            created: 1_700_000_000,
            filters: vec!["lang".to_owned()],
        }
    }

    #[test]
    fn a_pipeline_is_a_model_in_the_shape_of_openai() {
        let found = named(&[pipeline("a/b"), pipeline("docs")], "docs").unwrap();
        let expected = json!({
            "id": "docs", "object": "model", "created": 1_700_000_000, "owned_by": "pg_rag",
            "description": "what customers ask", "filters": ["lang"],
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn a_pipeline_that_is_not_there_is_a_model_that_is_not_found() {
        let missing = named(&[pipeline("docs")], "Docs").unwrap_err();
        assert_eq!(missing.status, 404);
        let error = &missing.body()["error"];
        assert_eq!((&error["code"], &error["param"]), (&json!("model_not_found"), &json!("model")));
        assert!(missing.message.contains("\"Docs\""), "{}", missing.message);
    }
}
