// Reads the OpenAPI document for the reference pages: operations, schema members, examples and curl commands. It does not produce HTML.

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly description?: string; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, { readonly description?: string }>>;
  };
}

export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

/** Lists a tag's operations in the order of their registration. */
export const listOperations = (document: ApiDocument, tag: string): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  );

export const listEventTypes = (document: ApiDocument) =>
  Object.entries(document.webhooks).map(([type, { post }]) => ({
    type,
    when: post.description ?? "",
    body: post.requestBody?.content["application/json"] ?? { schema: {} },
  }));

/**
 * Resolves `$ref`; other schemas are returned unchanged. A description next to the reference replaces the referenced schema's description.
 */
const resolveReference = (document: ApiDocument, schema: Schema): Schema => {
  const name = schema.$ref?.replace("#/components/schemas/", "");
  const named = name === undefined ? undefined : document.components.schemas[name];
  if (named === undefined) return schema;
  return schema.description === undefined ? named : { ...named, description: schema.description };
};

/** Returns the resolved schema without its `null` alternative, and whether `null` is allowed. */
export const resolveNullable = (document: ApiDocument, schema: Schema): { readonly schema: Schema; readonly orNull: boolean } => {
  const resolved = resolveReference(document, schema);
  if (resolved.anyOf !== undefined) {
    const [first = {}] = resolved.anyOf.filter(({ type }) => type !== "null");
    const chosen = resolveReference(document, first);
    const orNull = resolved.anyOf.some(({ type }) => type === "null");
    return { schema: { ...chosen, ...(resolved.description !== undefined && { description: resolved.description }) }, orNull };
  }
  if (!Array.isArray(resolved.type)) return { schema: resolved, orNull: false };
  const [type = "string"] = resolved.type.filter((name) => name !== "null");
  return { schema: { ...resolved, type }, orNull: resolved.type.includes("null") };
};

/** Describes the type, for example `string, date-time`, `list of strings`, `"live" or "sandbox"`. */
export const describeType = (document: ApiDocument, schema: Schema): string => {
  const { schema: resolved, orNull } = resolveNullable(document, schema);
  const choices = resolved.enum ?? (resolved.const === undefined ? undefined : [resolved.const]);
  const describeNonNull = (): string => {
    if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(" or ");
    if (resolved.type === "array")
      return `list of ${describeType(document, resolved.items ?? {}).replace(/^(string|integer|number|object)\b/, "$1s")}`;
    if (resolved.type === "object" && typeof resolved.additionalProperties === "object" && resolved.properties === undefined) {
      return `map of names to ${describeType(document, resolved.additionalProperties)}s`;
    }
    return [resolved.type ?? "anything", resolved.format].filter((part) => part !== undefined).join(", ");
  };
  return `${describeNonNull()}${orNull ? " or null" : ""}`;
};

const formatNumber = (value: number): string => value.toLocaleString("en");

/** Describes the constraints that the type does not express. */
export const describeLimits = ({ minLength, maxLength, minimum, maximum, default: defaultValue, pattern }: Schema): string[] => [
  ...(minLength !== undefined && maxLength !== undefined ? [`${formatNumber(minLength)} to ${formatNumber(maxLength)} characters`] : []),
  ...(minLength === undefined && maxLength !== undefined ? [`at most ${formatNumber(maxLength)} characters`] : []),
  ...(minimum !== undefined && maximum !== undefined ? [`${formatNumber(minimum)} to ${formatNumber(maximum)}`] : []),
  ...(minimum !== undefined && maximum === undefined ? [`at least ${formatNumber(minimum)}`] : []),
  ...(pattern === undefined ? [] : [`matches \`${pattern}\``]),
  ...(defaultValue === undefined ? [] : [`default \`${JSON.stringify(defaultValue)}\``]),
];

export interface SchemaMember {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** Lists the members of an object, or of the objects in a list. Returns an empty list for other types. */
export const listMembers = (document: ApiDocument, schema: Schema): SchemaMember[] => {
  const { schema: resolved } = resolveNullable(document, schema);
  if (resolved.type === "array" && resolved.items !== undefined) return listMembers(document, resolved.items);
  return Object.entries(resolved.properties ?? {}).map(([name, member]) => ({
    name,
    schema: member,
    required: resolved.required?.includes(name) ?? false,
  }));
};

/**
 * Returns the schema's `example`, its default or its first choice. If the schema has none of them, builds an example from its members or
 * its type.
 */
export const buildExample = (document: ApiDocument, schema: Schema): unknown => {
  const { schema: resolved, orNull } = resolveNullable(document, schema);
  const sample = resolved.example ?? resolved.default ?? resolved.const ?? resolved.enum?.[0];
  if (sample !== undefined) return sample;
  if (resolved.type === "object") {
    return Object.fromEntries(listMembers(document, resolved).map((member) => [member.name, buildExample(document, member.schema)]));
  }
  if (resolved.type === "array") return resolved.items === undefined ? [] : [buildExample(document, resolved.items)];
  if (resolved.type === "boolean") return true;
  if (resolved.type === "integer" || resolved.type === "number") return resolved.minimum ?? 1;
  return orNull || resolved.type === undefined ? null : "text";
};

export const getContentExample = (document: ApiDocument, content: Content): unknown =>
  content.example ?? buildExample(document, content.schema);

/** Returns the schema of `data` in an enveloped response, or the whole schema if there is no envelope. */
export const getPayloadSchema = (document: ApiDocument, schema: Schema): Schema => {
  const { properties } = resolveReference(document, schema);
  return properties?.data !== undefined && properties.request_id !== undefined ? properties.data : schema;
};

const maxLineWidth = 64; // the maximum number of characters per line; at this width, most examples fit next to the table of contents

/** Formats JSON for people. A value that fits on one line is not split. */
export const formatJson = (value: unknown, indent = ""): string => {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= maxLineWidth) return addJsonSpacing(line);
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const members = Array.isArray(value)
    ? value.map((member) => formatJson(member, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${formatJson(member, inner)}`);
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
};

/** Adds a space after each comma and colon that is not inside a string. */
const addJsonSpacing = (line: string): string =>
  line.replaceAll(/"(?:[^"\\]|\\.)*"|[,:]/g, (token) => (token.length === 1 ? `${token} ` : token));

const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const buildExamplePath = (document: ApiDocument, operation: Operation): string =>
  (operation.parameters ?? [])
    .filter(({ in: location }) => location === "path")
    .reduce(
      (path, { name, schema }) => path.replace(`{${name}}`, encodeURIComponent(String(buildExample(document, schema)))),
      operation.path,
    );

/** Builds a query with only the required parameters. */
const buildExampleQuery = (document: ApiDocument, operation: Operation): string => {
  const parameters = (operation.parameters ?? []).filter(({ in: location, required }) => location === "query" && required);
  const query = new URLSearchParams(parameters.map(({ name, schema }) => [name, String(buildExample(document, schema))]));
  return parameters.length === 0 ? "" : `?${query}`;
};

/**
 * Builds the call as a curl command. The command reads the key and the cookie from environment variables, so that they do not get into the
 * shell history.
 */
export const buildCurlCommand = (document: ApiDocument, operation: Operation): string => {
  const body = operation.requestBody?.content["application/json"];
  const headers = (operation.parameters ?? []).filter(({ in: location, required }) => location === "header" && required);
  const needsKey = operation.security.length > 0 && operation.security.every((scheme) => "apiKey" in scheme);
  const needsSession = operation.security.some((scheme) => "session" in scheme);
  const parts = [
    `curl ${shellQuote(`${document.servers[0]?.url ?? ""}${buildExamplePath(document, operation)}${buildExampleQuery(document, operation)}`)}`,
    // Omit -X if it would repeat curl's default: POST for a request with a body, otherwise GET.
    ...(operation.method === (body === undefined ? "GET" : "POST") ? [] : [`-X ${operation.method}`]),
    ...(needsKey ? ['-H "Authorization: Bearer $SVC_API_KEY"'] : []),
    ...(needsSession ? ['--cookie "__Host-svc_session=$SVC_SESSION"'] : []),
    ...headers.map(({ name, schema }) => `-H ${shellQuote(`${name}: ${buildExample(document, schema)}`)}`),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `--data ${shellQuote(formatJson(getContentExample(document, body)))}`]),
  ];
  return parts.join(" \\\n  ");
};

/** Lists an operation's errors: status, code, and the condition for each. */
export const listRefusals = (operation: Operation) =>
  Object.entries(operation.responses)
    .filter(([status]) => status >= "400")
    .flatMap(([status, { description }]) =>
      description.split("\n\n").map((line) => {
        const [, code = "", when = line] = /^`([a-z_]+)`: (.*)$/.exec(line) ?? [];
        return { status, code, when };
      }),
    );

export const listSuccesses = (operation: Operation): { readonly status: string; readonly response: ApiResponse }[] =>
  Object.entries(operation.responses)
    .filter(([status]) => status < "400")
    .map(([status, response]) => ({ status, response }));
