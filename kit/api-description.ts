// Reduces the OpenAPI document to what the client generator needs: the operations that a program can call (with or without an API key), and
// the schemas that these operations and webhook events use. Removes the envelope from responses, because kit/client.ts unwraps it.
import type { Json, JsonObject } from "../core/canonical-json.ts";

interface Operation extends JsonObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly security: readonly JsonObject[];
}

export interface ApiDescription extends JsonObject {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly webhooks: JsonObject;
  readonly components: {
    readonly schemas: { readonly [name: string]: JsonObject };
    readonly securitySchemes: { readonly [name: string]: JsonObject };
  };
}

/** The tags of operations that are meant for the web pages or the payment provider. */
const excludedTags: ReadonlySet<string> = new Set(["sign-in", "portal", "billing"]);
const requiresSession = (requirement: JsonObject): boolean => "session" in requirement;

/** Sorts an API key before "no authentication", because the generated client uses the first alternative that it has credentials for. */
const compareSecurity = (a: JsonObject, b: JsonObject): number => Object.keys(b).length - Object.keys(a).length;

const isProgrammatic = ({ tags, security }: Operation): boolean =>
  !tags.some((tag) => excludedTags.has(tag)) && (security.length === 0 || !security.every(requiresSession));

const unwrapEnvelopeSchema = (schema: JsonObject): JsonObject => {
  const { ok, data, error } = (schema.properties ?? {}) as { readonly [name: string]: JsonObject };
  return ok === undefined ? schema : (data ?? error ?? schema);
};

/** Returns the names of all schemas that `root` references, directly or indirectly. */
const collectSchemaNames = (root: Json, schemas: ApiDescription["components"]["schemas"]): ReadonlySet<string> => {
  const names = new Set<string>();
  const collect = (json: Json): void => {
    for (const [, name = ""] of JSON.stringify(json).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (names.has(name)) continue;
      names.add(name);
      collect(schemas[name] ?? null);
    }
  };
  collect(root);
  return names;
};

export const toClientDescription = ({ paths, webhooks, components, ...rest }: ApiDescription): JsonObject => {
  const clientPaths = Object.fromEntries(
    Object.entries(paths).flatMap(([path, methods]) => {
      const operations = Object.entries(methods).filter(([, operation]) => isProgrammatic(operation));
      const described = operations.map(([method, { security, ...operation }]) => [
        method,
        { ...operation, security: security.filter((requirement) => !requiresSession(requirement)).toSorted(compareSecurity) },
      ]);
      return described.length === 0 ? [] : [[path, Object.fromEntries(described)]];
    }),
  );
  const schemas = Object.fromEntries(Object.entries(components.schemas).map(([name, schema]) => [name, unwrapEnvelopeSchema(schema)]));
  const names = collectSchemaNames([clientPaths, webhooks], schemas);
  return {
    ...rest,
    paths: clientPaths,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => names.has(name))),
      securitySchemes: { apiKey: components.securitySchemes.apiKey ?? null },
    },
  };
};
