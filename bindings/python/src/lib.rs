//! The engine as a module of Python: requests in JSON, and programs of CEL that are compiled once.
//!
//! The package around it (`python/pratique`) has the types, and builds requests from keyword arguments.

use std::thread;

use pratique_cel::{Environment, Program, Type, json};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;

/// The stack of a thread that evaluates policies. The depth of recursion is bounded, but a thread of Python may have less than
/// that needs.
const STACK: usize = 64 << 20;

create_exception!(
    pratique,
    CompileError,
    PyException,
    "An expression does not compile; the message is the one of an API server."
);
create_exception!(
    pratique,
    EvaluationError,
    PyException,
    "An expression has no value: it failed, it cost too much, or its value has no form in JSON."
);

/// Answers a request in JSON, as the engine for WebAssembly does.
#[pyfunction]
fn answer(py: Python<'_>, request: Vec<u8>) -> PyResult<Vec<u8>> {
    let answered = py.detach(|| {
        let thread = thread::Builder::new().stack_size(STACK);
        thread
            .spawn(move || pratique_wasm::answer(&request))
            .map(thread::JoinHandle::join)
    });
    let answered =
        answered.map_err(|error| PyRuntimeError::new_err(format!("no thread can be started: {error}")))?;
    answered.map_err(|_| PyRuntimeError::new_err("the engine ended"))
}

/// A compiled expression. It does not change, and can be shared between threads.
#[pyclass(frozen)]
struct CompiledProgram {
    program: Program,
    result_type: String,
}

#[pymethods]
impl CompiledProgram {
    /// Compiles an expression in the environment of an API server, with variables of type `dyn`.
    #[new]
    fn new(py: Python<'_>, expression: &str, variables: Vec<String>) -> PyResult<Self> {
        py.detach(|| {
            let environment = variables
                .iter()
                .fold(Environment::kubernetes(), |environment, name| {
                    environment.with_variable(name, Type::Dyn)
                });
            let checked = environment
                .parse(expression)
                .and_then(|ast| environment.check_types(ast));
            let compiled = checked.and_then(|checked| {
                let result_type = checked.result_type().to_string();
                Ok((environment.plan(&checked)?, result_type))
            });
            let (program, result_type) =
                compiled.map_err(|error| CompileError::new_err(error.to_string()))?;
            Ok(CompiledProgram { program, result_type })
        })
    }

    /// The type of its value.
    #[getter]
    fn result_type(&self) -> &str {
        &self.result_type
    }

    /// Evaluates it with an object of variables in JSON; the value is JSON.
    fn evaluate(&self, py: Python<'_>, variables: &[u8], cost_limit: u64) -> PyResult<String> {
        py.detach(|| {
            let given =
                json::parse(variables).map_err(|error| EvaluationError::new_err(error.to_string()))?;
            let json::Value::Object(members) = &given else {
                return Err(EvaluationError::new_err("variables are a mapping"));
            };
            let value = self.program.evaluate_json(members.iter(), cost_limit);
            let value = value.map_err(|error| EvaluationError::new_err(error.to_string()))?;
            Ok(value.to_string())
        })
    }
}

/// The native part of the package `pratique`.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(answer, module)?)?;
    module.add_class::<CompiledProgram>()?;
    module.add("CompileError", module.py().get_type::<CompileError>())?;
    module.add("EvaluationError", module.py().get_type::<EvaluationError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
