//! The `spec` of a definition.

use std::collections::HashSet;
use std::sync::Arc;

use pratique_gotext::strconv::is_printable;
use pratique_json::Value;
use pratique_schema::Release;
use pratique_types::field::{ErrorList, Path};
use pratique_validation::rules::{Errors, Node, named};

use super::conversion::{ConversionOptions, validate_conversion};
use super::is_established;
use super::resource_names::{require_names, validate_group, validate_label, validate_names};
use super::schema_check::{CheckedSchema, CompiledSchema, SchemaCheck};
use super::schema_options::SchemaOptions;
use super::schema_search::{has_schema, schemas_of};
use super::selectable_fields::{has_too_many, validate_selectable_fields, validate_selectable_without};
use super::subresources::{validate_column, validate_subresources};
use super::version_settings::{VersionSetting, VersionSettings, is_same_setting, versions_by_name};
use crate::rules::ExpressionScope;
use crate::schema::{ReadFaults, read};

/// What a definition may keep because the existing one has it.
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validationOptions
#[derive(Debug)]
pub(super) struct SpecOptions {
    schemas: SchemaOptions,
    conversion: ConversionOptions,
    /// The names of versions whose schemas did not change.
    unchanged_schemas: HashSet<String>,
    /// The names of versions that have too many selectable fields, as they had; empty for those that all versions share.
    many_selectable: HashSet<String>,
}

/// The schemas of the versions of a definition.
#[derive(Debug, Default)]
pub(crate) struct VersionSchemas {
    /// By the index of the version; `None` where a schema cannot be followed.
    pub(crate) compiled: Vec<Option<Arc<CompiledSchema>>>,
    /// Errors for which a server does not even decode a schema.
    pub(crate) malformed: ErrorList,
}

/// The check of a `spec`.
pub(super) struct SpecCheck<'c, 'v> {
    spec: &'c Node<'c, 'v>,
    options: &'c SpecOptions,
    settings: VersionSettings<'v>,
    preserves_unknown: bool,
    requires_structural: bool,
}

impl SpecOptions {
    /// Those of a new definition.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinition
    pub(super) fn new(expressions: ExpressionScope) -> Self {
        SpecOptions {
            schemas: SchemaOptions::new(expressions),
            conversion: ConversionOptions::NEW,
            unchanged_schemas: HashSet::new(),
            many_selectable: HashSet::new(),
        }
    }

    /// Those of a definition that is to replace another.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, ValidateCustomResourceDefinitionUpdate
    pub(super) fn beside(object: &Node<'_, '_>, old: &Node<'_, '_>, release: &'static Release) -> Self {
        let (spec, old_spec) = (object.child("spec"), old.child("spec"));
        SpecOptions {
            schemas: SchemaOptions::beside(&old_spec, release),
            conversion: ConversionOptions::beside(&old_spec, is_established(old)),
            unchanged_schemas: unchanged_schemas(&spec, &old_spec),
            // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, findTooManySelectableFieldsAllowed,
            // since 1.35
            many_selectable: if release.at_least(1, 35) {
                many_selectable(&spec, &old_spec)
            } else {
                HashSet::new()
            },
        }
    }
}

/// The versions of two definitions that have the same name.
fn same_versions<'v>(
    spec: &Node<'_, 'v>,
    old: &Node<'_, 'v>,
) -> Vec<(&'v str, &'v Value<'v>, &'v Value<'v>)> {
    let old_versions = old.value().get("versions").and_then(Value::as_array);
    let by_name = versions_by_name(old_versions.unwrap_or_default());
    let versions = spec.child("versions");
    let same = versions.items().filter_map(|version| {
        let name = version.child("name").as_text();
        let other = by_name.get(name)?;
        Some((name, version.value(), *other))
    });
    same.collect()
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, findVersionsWithUnchangedSchemas
fn unchanged_schemas(spec: &Node<'_, '_>, old: &Node<'_, '_>) -> HashSet<String> {
    let (settings, old_settings) = (VersionSettings::new(spec), VersionSettings::new(old));
    let versions = spec.child("versions");
    let names = versions.items().map(|version| version.child("name").as_text());
    let is_unchanged = |name: &&str| {
        let (new, old) = (settings.schema_of(name), old_settings.schema_of(name));
        new.is_some() && old.is_some() && is_same_setting(new, old)
    };
    names.filter(is_unchanged).map(str::to_owned).collect()
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, findTooManySelectableFieldsAllowed
fn many_selectable(spec: &Node<'_, '_>, old: &Node<'_, '_>) -> HashSet<String> {
    const SETTING: VersionSetting = VersionSetting::SelectableFields;
    let (settings, old_settings) = (VersionSettings::new(spec), VersionSettings::new(old));
    let value = |node: Option<Node<'_, '_>>| node.map(|node| node.value().rewritten(""));
    let is_kept = |new: Option<Value<'_>>, old: Option<Value<'_>>| {
        let had_many = old
            .as_ref()
            .is_some_and(|old| has_too_many(&Node::with_path(old, Path::ROOT)));
        had_many && is_same_setting(new.as_ref(), old.as_ref())
    };
    let mut kept = HashSet::new();
    if is_kept(
        value(settings.shared(SETTING, spec)),
        value(old_settings.shared(SETTING, old)),
    ) {
        kept.insert(String::new());
    }
    for (name, version, other) in same_versions(spec, old) {
        let (version, other) = (
            Node::with_path(version, Path::ROOT),
            Node::with_path(other, Path::ROOT),
        );
        if is_kept(
            value(settings.own(SETTING, &version)),
            value(old_settings.own(SETTING, &other)),
        ) {
            kept.insert(name.to_owned());
        }
    }
    kept
}

impl<'c, 'v> SpecCheck<'c, 'v> {
    pub(super) fn new(spec: &'c Node<'c, 'v>, options: &'c SpecOptions) -> Self {
        let preserves_unknown = spec.child("preserveUnknownFields").is_true();
        let mut check = SpecCheck {
            spec,
            options,
            settings: VersionSettings::new(spec),
            preserves_unknown,
            requires_structural: true,
        };
        check.requires_structural = options.schemas.requires_structural
            || !preserves_unknown
            || check.has_default()
            || check.has(has_extension);
        check
    }

    fn has(&self, is_wanted: fn(&Value<'_>) -> bool) -> bool {
        let versions = self.spec.value().get("versions").and_then(Value::as_array);
        schemas_of(versions.unwrap_or_default())
            .any(|schema| has_schema(schema, &mut |schema| is_wanted(schema)))
    }

    fn has_default(&self) -> bool {
        self.has(|schema| schema.get("default").is_some_and(|value| !value.is_null()))
    }

    /// Validates the `spec`, and gives the schemas of its versions.
    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionSpec
    pub(super) fn validate(&self, errors: &mut Errors) -> VersionSchemas {
        let (spec, versions) = (self.spec, self.spec.child("versions"));
        validate_group(&spec.child("group"), errors);
        let scope = spec.child("scope");
        match scope.as_text() {
            "" => errors.required(scope, ""),
            "Cluster" | "Namespaced" => {}
            _ => errors.unsupported_text(&scope, &["Cluster", "Namespaced"]),
        }
        self.require_schemas(errors);
        if self.preserves_unknown && self.has_default() {
            let detail = "must be false in order to use defaults in the schema";
            errors.invalid(spec.child("preserveUnknownFields"), true, detail);
        }
        let mut schemas = VersionSchemas::default();
        for version in versions.items() {
            validate_label(&version.child("name"), errors);
            let compiled = self.validate_version(&version, &mut schemas.malformed, errors);
            schemas.compiled.push(compiled);
        }
        self.validate_list(&versions, errors);
        // The name of the first version is also that of the definition.
        if let Some(first) = versions.items().next() {
            let name = first.child("name");
            if !name.as_text().is_empty() {
                validate_label(
                    &Node::with_path(name.value(), spec.path().child("version")),
                    errors,
                );
            }
        }
        let names = spec.child("names");
        require_names(&names, errors);
        validate_names(&names, errors);
        if let Some(shared) = self.validate_shared(&mut schemas.malformed, errors) {
            for compiled in &mut schemas.compiled {
                *compiled = Some(shared.clone());
            }
        }
        let conversion = spec.child("conversion");
        let options = self.options.conversion;
        validate_conversion(&conversion, self.preserves_unknown, options, errors);
        schemas
    }

    fn require_schemas(&self, errors: &mut Errors) {
        let requires_all = self.options.schemas.requires_schemas;
        if (!requires_all && self.preserves_unknown) || self.has_shared_schema() {
            return;
        }
        for version in self.spec.child("versions").items() {
            let schema = version.child("schema");
            let schema = schema.child("openAPIV3Schema");
            if schema.is_set() {
                continue;
            }
            if requires_all {
                errors.required(schema, "");
            } else if version.child("served").is_true() {
                errors.required(schema, "because otherwise all fields are pruned");
            }
        }
    }

    fn has_shared_schema(&self) -> bool {
        let shared = self.settings.shared(VersionSetting::Schema, self.spec);
        shared.is_some_and(|schema| schema.child("openAPIV3Schema").is_set())
    }

    /// Validates the list of versions as a whole.
    fn validate_list(&self, versions: &Node<'_, '_>, errors: &mut Errors) {
        let mut names = HashSet::new();
        if !versions
            .items()
            .all(|version| names.insert(version.child("name").as_text()))
        {
            let detail = "must contain unique version names";
            errors.invalid(
                versions,
                self.settings.print_versions(errors.release(), versions),
                detail,
            );
        }
        let storing = versions.items();
        let storing = storing.filter(|version| version.child("storage").is_true());
        if storing.count() != 1 {
            let detail = "must have exactly one version marked as storage version";
            errors.invalid(
                versions,
                self.settings.print_versions(errors.release(), versions),
                detail,
            );
        }
    }

    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateCustomResourceDefinitionVersion
    fn validate_version(
        &self,
        version: &Node<'_, 'v>,
        malformed: &mut ErrorList,
        errors: &mut Errors,
    ) -> Option<Arc<CompiledSchema>> {
        validate_deprecation(version, errors);
        let name = version.child("name").as_text();
        let schema = self.settings.own(VersionSetting::Schema, version);
        let has_status = self.has_status(name);
        let compiled = schema.as_ref().and_then(|schema| {
            let checked = self.check_schema(schema, has_status, name);
            take(checked, malformed, errors)
        });
        if let Some(subresources) = self.settings.own(VersionSetting::Subresources, version) {
            validate_subresources(&subresources, errors);
        }
        if let Some(columns) = self.settings.own(VersionSetting::PrinterColumns, version) {
            columns
                .items()
                .for_each(|column| validate_column(&column, errors));
        }
        let fields = self.settings.own(VersionSetting::SelectableFields, version);
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            let openapi = schema.as_ref().map(|schema| schema.child("openAPIV3Schema"));
            match openapi.filter(Node::is_set) {
                None => {
                    // The text says the opposite.
                    let detail = "may only be set when `version.schema.openAPIV3Schema` is not included";
                    errors.invalid(fields, "", detail);
                }
                Some(openapi) => {
                    let path = version.path().child("schema.openAPIV3Schema");
                    self.validate_selectable(&fields, &openapi, &path, name, errors);
                }
            }
        }
        compiled
    }

    /// Validates the settings that all versions share.
    fn validate_shared(&self, malformed: &mut ErrorList, errors: &mut Errors) -> Option<Arc<CompiledSchema>> {
        let first = self.spec.child("versions");
        let first = first.items().next();
        let first = first
            .as_ref()
            .map_or("", |version| version.child("name").as_text());
        let schema = self.settings.shared(VersionSetting::Schema, self.spec);
        let compiled = schema.as_ref().and_then(|schema| {
            let checked = self.check_schema(schema, self.has_any_status(), first);
            take(checked, malformed, errors)
        });
        if let Some(subresources) = self.settings.shared(VersionSetting::Subresources, self.spec) {
            validate_subresources(&subresources, errors);
        }
        if let Some(columns) = self.settings.shared(VersionSetting::PrinterColumns, self.spec) {
            columns
                .items()
                .for_each(|column| validate_column(&column, errors));
        }
        let fields = self.settings.shared(VersionSetting::SelectableFields, self.spec);
        if let Some(fields) = fields.filter(|fields| !fields.is_empty()) {
            match schema.as_ref() {
                None => {
                    let detail = "may only be set when validations.schema is included";
                    errors.invalid(fields, "", detail);
                }
                Some(schema) => {
                    let path = self.spec.path().child("schema.openAPIV3Schema");
                    let openapi = schema.child("openAPIV3Schema");
                    self.validate_selectable(&fields, &openapi, &path, "", errors);
                }
            }
        }
        compiled
    }

    fn check_schema(&self, schema: &Node<'_, '_>, has_status: bool, version: &str) -> CheckedSchema {
        let check = SchemaCheck {
            options: &self.options.schemas,
            requires_structural: self.requires_structural,
            has_status,
            is_unchanged: self.options.unchanged_schemas.contains(version),
        };
        check.check_schema(schema)
    }

    fn validate_selectable(
        &self,
        fields: &Node<'_, '_>,
        openapi: &Node<'_, '_>,
        schema_path: &Path<'_>,
        version: &str,
        errors: &mut Errors,
    ) {
        let mut faults = ReadFaults::default();
        let schema = read(openapi.value(), openapi.path(), &mut faults);
        if let Some(detail) = faults.unsupported {
            errors.invalid(schema_path.to_string(), "", detail);
            return validate_selectable_without(fields, errors);
        }
        let allows_many = self.options.many_selectable.contains(version);
        validate_selectable_fields(fields, &schema, allows_many, errors);
    }

    // Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, getSubresourcesForVersion
    fn has_status(&self, version: &str) -> bool {
        let version = self.settings.version(version);
        version.is_some_and(has_status)
    }

    fn has_any_status(&self) -> bool {
        self.spec
            .child("versions")
            .items()
            .any(|version| has_status(version.value()))
    }
}

fn has_status(version: &Value<'_>) -> bool {
    let status = version.at(&["subresources", "status"]);
    status.is_some_and(|status| !status.is_null())
}

fn take(
    checked: CheckedSchema,
    malformed: &mut ErrorList,
    errors: &mut Errors,
) -> Option<Arc<CompiledSchema>> {
    malformed.append(checked.malformed);
    errors.extend(checked.errors);
    checked.compiled
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, schemaHasKubernetesExtensions
fn has_extension(schema: &Value<'_>) -> bool {
    let value = |name: &str| schema.get(name).filter(|value| !value.is_null());
    let is_true = |name| value(name) == Some(&Value::Bool(true));
    let is_long = |name| value(name).is_some_and(|value| !value.is_empty());
    is_true("x-kubernetes-embedded-resource")
        || is_true("x-kubernetes-int-or-string")
        || value("x-kubernetes-preserve-unknown-fields").is_some()
        || value("x-kubernetes-list-type").is_some()
        || is_long("x-kubernetes-list-map-keys")
        || is_long("x-kubernetes-validations")
}

// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, validateDeprecationWarning
fn validate_deprecation(version: &Node<'_, '_>, errors: &mut Errors) {
    let warning = version.child("deprecationWarning");
    if !warning.is_set() {
        return;
    }
    let text = warning.as_text();
    if !version.child("deprecated").is_true() {
        return errors.invalid(warning, named(text), "can only be set for deprecated versions");
    }
    if text.len() > 256 {
        errors.invalid(warning, named(text), "must be <= 256 characters long");
    }
    if text.is_empty() {
        errors.invalid(warning, named(text), "must not be an empty string");
    }
    let hidden = text
        .char_indices()
        .find(|(_, character)| !is_printable(*character));
    if let Some((at, _)) = hidden {
        let detail = format!(
            "must only contain printable UTF-8 characters; non-printable character found at index {at}"
        );
        errors.invalid(warning, named(text), &detail);
    }
}
