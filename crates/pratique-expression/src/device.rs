//! The expressions with which claims and classes select devices, and derive attributes of them.
// Upstream: dynamic-resource-allocation/cel/compile.go

use std::sync::Arc;

use pratique_cel::cost::Range;
use pratique_cel::estimate::{Sizes, estimate};
use pratique_cel::{Environment, StructType, Type, library};
use pratique_schema::{FeatureGates, ReleaseCache};

const DEVICE_TYPE: &str = "kubernetes.DRADevice";
const SEMVER_TYPE: &str = "kubernetes.Semver";
const QUANTITY_TYPE: &str = "kubernetes.Quantity";

/// Compiles an expression of a new claim or class in a server of a release, and bounds its cost; one that derives an attribute may
/// have other types.
///
/// # Errors
/// It does not compile, or has another type, in an API server's words.
///
/// ```
/// use pratique_expression::compile_device_expression;
/// use pratique_schema::FeatureGates;
///
/// let gates = FeatureGates::default();
/// let cost = compile_device_expression(gates, "device.attributes['dra.example.com'].model == 'a'", false)?;
/// assert!(cost < 1_000);
/// let refused = compile_device_expression(gates, "1", false);
/// assert_eq!(refused.unwrap_err(), "must evaluate to bool or the unknown type, not int");
/// # Ok::<(), String>(())
/// ```
pub fn compile_device_expression(gates: FeatureGates, text: &str, is_derived: bool) -> Result<u64, String> {
    let environment = environment(gates);
    let checked = environment
        .parse(text)
        .and_then(|ast| environment.check_types(ast))
        .map_err(|error| format!("compilation failed: {error}"))?;
    let of = checked.result_type();
    let is_semver = *of == Type::named(SEMVER_TYPE);
    let is_scalar = matches!(of, Type::Bool | Type::Int | Type::String | Type::Any | Type::Dyn) || is_semver;
    if is_derived && !is_scalar {
        let name = of.declared_name();
        return Err(format!(
            "must evaluate to a primitive scalar (string, integer, boolean, semver), not {name}"
        ));
    }
    if !is_derived && !matches!(of, Type::Bool | Type::Any) {
        let name = of.declared_name();
        return Err(format!("must evaluate to bool or the unknown type, not {name}"));
    }
    if let Err(error) = environment.plan(&checked) {
        return Err(format!("program instantiation failed: {error}"));
    }
    Ok(estimate(&checked, &DeviceSizes).max)
}

/// New expressions may use what the release before has, too.
fn environment(gates: FeatureGates) -> Environment {
    /// By the minor version of the release, and whether devices can be allocated several times.
    static ENVIRONMENTS: ReleaseCache<(u32, bool), Environment> = ReleaseCache::new();
    let (_, minor) = gates.release().version();
    // Upstream: dynamic-resource-allocation/cel/compile.go, newCompiler: off by default before 1.36.
    let is_shared = gates.is_on("DRAConsumableCapacity");
    ENVIRONMENTS.get_or_make((minor, is_shared), || new_environment(minor, is_shared))
}

fn new_environment(release: u32, is_shared: bool) -> Environment {
    let by_domain = |of: Type| Type::map(Type::String, Type::map(Type::String, of));
    let mut fields = vec![
        ("driver", Type::String),
        ("attributes", by_domain(Type::Any)),
        ("capacity", by_domain(Type::named(QUANTITY_TYPE))),
    ];
    if is_shared {
        fields.insert(1, ("allowMultipleAllocations", Type::Bool));
    }
    let version = release.saturating_sub(1);
    let environment = Environment::kubernetes_of(release, version).with_library(library::bindings());
    // The type with this field is of version 1.34, and the gate takes the place of the other: with it, new expressions of 1.34 have
    // no device at all.
    if is_shared && version < 34 {
        return environment;
    }
    environment
        .with_types(Arc::new(StructType::new(DEVICE_TYPE, &fields)))
        .with_variable("device", Type::named(DEVICE_TYPE))
}

/// The limits of a device's parts.
struct DeviceSizes;

/// A place in a device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DevicePart {
    Device,
    Driver,
    AllowMultipleAllocations,
    /// The attributes, or the capacity, by domain.
    Domains {
        are_attributes: bool,
    },
    Domain,
    /// Those of a domain by name.
    Names {
        are_attributes: bool,
    },
    Name,
    Attribute,
    Quantity,
}

impl DevicePart {
    fn part(self, name: &str) -> Option<DevicePart> {
        Some(match (self, name) {
            (DevicePart::Device, "driver") => DevicePart::Driver,
            (DevicePart::Device, "allowMultipleAllocations") => DevicePart::AllowMultipleAllocations,
            (DevicePart::Device, "attributes") => DevicePart::Domains { are_attributes: true },
            (DevicePart::Device, "capacity") => DevicePart::Domains {
                are_attributes: false,
            },
            (DevicePart::Domains { are_attributes }, "@items" | "@values") => {
                DevicePart::Names { are_attributes }
            }
            (DevicePart::Domains { .. }, "@keys") => DevicePart::Domain,
            (DevicePart::Names { .. }, "@keys") => DevicePart::Name,
            (
                DevicePart::Names {
                    are_attributes: false,
                },
                "@items" | "@values",
            ) => DevicePart::Quantity,
            // Attributes are also read as fields.
            (DevicePart::Names { are_attributes: true }, _) => DevicePart::Attribute,
            _ => return None,
        })
    }

    fn max_elements(self) -> u64 {
        match self {
            DevicePart::Device | DevicePart::Quantity => 0,
            DevicePart::AllowMultipleAllocations => 1,
            DevicePart::Driver | DevicePart::Domain => 63,
            DevicePart::Domains { .. } | DevicePart::Names { .. } | DevicePart::Name => 32,
            DevicePart::Attribute => 64,
        }
    }
}

impl Sizes for DeviceSizes {
    // Upstream: dynamic-resource-allocation/cel/compile.go, sizeEstimator.EstimateSize
    fn size(&self, path: &[String], _: &Type) -> Option<Range> {
        let (variable, parts) = path.split_first()?;
        if variable != "device" {
            return None;
        }
        let place = parts
            .iter()
            .try_fold(DevicePart::Device, |place, name| place.part(name))?;
        Some(Range {
            min: 0,
            max: place.max_elements(),
        })
    }
}

#[cfg(test)]
mod tests {
    use pratique_schema::Release;

    use super::*;

    #[track_caller]
    fn check(text: &str, is_derived: bool, expected: &str) {
        let gates = FeatureGates::default();
        let compiled = compile_device_expression(gates, text, is_derived).map(|cost| cost.to_string());
        let message = compiled.unwrap_or_else(|message| message);
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn texts_are_those_of_a_server() {
        check(
            "device.attributes[true].someBoolean",
            false,
            "compilation failed: ERROR: <input>:1:18: found no matching overload for '_[_]' applied to '(map(string, map(string, \
             any)), bool)'",
        );
        check(
            "noSuchVar",
            false,
            "compilation failed: ERROR: <input>:1:1: undeclared reference to 'noSuchVar'",
        );
        check(
            "[1]",
            true,
            "must evaluate to a primitive scalar (string, integer, boolean, semver), not list(int)",
        );
        check("semver('1.2.3')", true, "");
        check("device.attributes['a'].b", false, "");
        check("cel.bind(d, device.attributes['a'], d.b == d.c)", false, "");
        check("device.capacity['a'].b.isGreaterThan(quantity('1Gi'))", false, "");
    }

    #[test]
    fn the_size_of_a_name_is_that_of_its_place_in_the_device() {
        let cost = |text: &str| compile_device_expression(FeatureGates::default(), text, true).unwrap();
        assert!(cost("'a' + cel.bind(x, device.driver, x)") < 1_000);
        assert!(cost("'a' + cel.bind(x, device.driver.lowerAscii(), x)") > 1_000_000);
    }

    #[test]
    fn costs_are_bounded_by_the_limits_of_devices() {
        let all = "device.attributes.all(d, device.attributes[d].all(n, device.attributes.all(e, true)))";
        let cost = compile_device_expression(FeatureGates::default(), all, false).unwrap();
        assert!((10_000..1_000_000).contains(&cost), "{cost}");
    }

    #[test]
    fn what_expressions_may_use_depends_on_the_release() {
        let check = |version: &str, gate: bool, text: &str, expected: Option<&str>| {
            let release = Release::by_version(version).unwrap();
            let gates = FeatureGates::new(release);
            let gates = if gate {
                gates.with("DRAConsumableCapacity", true)
            } else {
                gates
            };
            let refused = compile_device_expression(gates, text, false).err();
            assert_eq!(refused.is_some(), expected.is_some(), "{version}: {refused:?}");
            if let (Some(refused), Some(expected)) = (refused, expected) {
                assert!(refused.contains(expected), "{version}: {refused}");
            }
        };
        let shared = "device.allowMultipleAllocations";
        let undefined = "undefined field 'allowMultipleAllocations'";
        check("1.37", false, shared, None);
        check("1.36", false, shared, None);
        check("1.35", false, shared, Some(undefined));
        check("1.35", true, shared, None);
        check("1.34", false, shared, Some(undefined));
        check("1.34", true, shared, Some("undeclared reference to 'device'"));
        check("1.37", false, "device.attributes['a'].`b-c`", None);
        check(
            "1.36",
            false,
            "device.attributes['a'].`b-c`",
            Some("unsupported syntax: '`'"),
        );
    }
}
