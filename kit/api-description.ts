// The description of the API as the generator of the client reads it: what a program may call with an API key or without one,
// answers without their envelope (kit/client.ts takes it off), and the schemas that are left to name.

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

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

/** What people do at a page, and what the payment provider says. */
const excludedTags: ReadonlySet<string> = new Set(["sign-in", "portal", "billing"]);
const requiresSession = (need: JsonObject): boolean => "session" in need;

/** The first way that the caller has is taken: a key, where it goes with or without one. */
const compareSecurity = (a: JsonObject, b: JsonObject): number => Object.keys(b).length - Object.keys(a).length;

const isProgrammatic = ({ tags, security }: Operation): boolean =>
  !tags.some((tag) => excludedTags.has(tag)) && (security.length === 0 || !security.every(requiresSession));

const unwrapEnvelopeSchema = (schema: JsonObject): JsonObject => {
  const { ok, data, error } = (schema.properties ?? {}) as { readonly [name: string]: JsonObject };
  return ok === undefined ? schema : (data ?? error ?? schema);
};

/** Of these names, and of all that their schemas name. */
const collectSchemaNames = (from: Json, schemas: ApiDescription["components"]["schemas"]): ReadonlySet<string> => {
  const found = new Set<string>();
  const look = (at: Json): void => {
    for (const [, name = ""] of JSON.stringify(at).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found.has(name)) continue;
      found.add(name);
      look(schemas[name] ?? null);
    }
  };
  look(from);
  return found;
};

export const toClientDescription = ({ paths, webhooks, components, ...rest }: ApiDescription): JsonObject => {
  const kept = Object.fromEntries(
    Object.entries(paths).flatMap(([path, methods]) => {
      const operations = Object.entries(methods).filter(([, operation]) => isProgrammatic(operation));
      const described = operations.map(([method, { security, ...operation }]) => [
        method,
        { ...operation, security: security.filter((need) => !requiresSession(need)).toSorted(compareSecurity) },
      ]);
      return described.length === 0 ? [] : [[path, Object.fromEntries(described)]];
    }),
  );
  const bare = Object.fromEntries(Object.entries(components.schemas).map(([name, schema]) => [name, unwrapEnvelopeSchema(schema)]));
  const names = collectSchemaNames([kept, webhooks], bare);
  return {
    ...rest,
    paths: kept,
    components: {
      schemas: Object.fromEntries(Object.entries(bare).filter(([name]) => names.has(name))),
      securitySchemes: { apiKey: components.securitySchemes.apiKey ?? null },
    },
  };
};
