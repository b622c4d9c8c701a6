// Tests the messages in 400 responses on every route. Each is a constant sentence that names the input, states the rule, and repeats
// nothing that was sent. The inputs come from the OpenAPI document, so a new route is tested as soon as the document describes it.
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { generateSecret, type ShardId } from "../../core/ids.ts";
import { signUpBusiness } from "../support/portal.ts";
import { signInPerson } from "../support/sharing.ts";
import { defaultLimits } from "../../workers/limits.ts";
import {
  submitConsent,
  getWithKey,
  issueCertificate,
  origin,
  createServiceCall,
  buildSubmission,
  world,
  type TestResponse,
} from "../support/world.ts";

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema: { readonly example?: string; readonly enum?: readonly string[] };
}
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly security: readonly Record<string, unknown>[];
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly example: Record<string, unknown> } | null;
}

let schemas: Readonly<Record<string, Schema>> = {};
let operations: readonly Operation[] = [];
let certId = "";

const resolveSchema = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (schemas[schema.$ref.split("/").at(-1) as string] as Schema);
const listProperties = (schema: Schema): readonly string[] => Object.keys(resolveSchema(schema).properties ?? {});

beforeAll(async () => {
  const document = (await getWithKey("/v1/openapi.json")).body;
  schemas = document.components.schemas;
  operations = Object.entries<Record<string, Record<string, unknown>>>(document.paths).flatMap(([path, methods]) =>
    // biome-ignore lint/suspicious/noExplicitAny: a description has any shape
    Object.entries<any>(methods).map(([method, it]) => ({
      method: method.toUpperCase(),
      path,
      security: it.security ?? [],
      parameters: it.parameters ?? [],
      body: it.requestBody?.content?.["application/json"] ?? null,
    })),
  );
  certId = (await issueCertificate()).cert_id;
});

/** These tests send far more requests than the limits allow. */
const unlimited = createServiceCall(Object.fromEntries(Object.keys(defaultLimits).map((name) => [`LIMIT_${name}`, "1000000/60"])));

const createApiKey = async (businessId: string, environment: "live" | "sandbox"): Promise<string> => {
  const key = generateSecret(environment === "live" ? "sk_live_" : "sk_test_", "00" as ShardId, (count) =>
    crypto.getRandomValues(new Uint8Array(count)),
  );
  await env.DB.prepare(
    "INSERT INTO api_keys (id, business_id, environment, key_hash, name, last4, created_at) VALUES (?, ?, ?, ?, 'x', 'xxxx', 0)",
  )
    .bind(`key_${sha256Hex(key).slice(0, 26)}`, businessId, environment, sha256Hex(key))
    .run();
  return key;
};

let owners = 0;
const createOwner = () => {
  owners += 1;
  return signUpBusiness(`owner-${owners}@messages.example`);
};

type Headers = Readonly<Record<string, string>>;
const buildBearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });
const callers = {
  person: async (): Promise<Headers> => (await signInPerson({})).headers,
  owner: async (): Promise<Headers> => ({ cookie: (await createOwner()).cookie }),
  // Uses a new business's sandbox, because the requests change it.
  sandbox: async () => buildBearer(await createApiKey((await createOwner()).id, "sandbox")),
  business: async () => buildBearer(await createApiKey(world.acme.id, "live")),
  public: async (): Promise<Headers> => ({}),
} as const;
type Caller = keyof typeof callers;

const getCaller = ({ path, security }: Operation): Caller => {
  const isConsumerRoute = /^\/v1\/(?:me|share|shares\/\{share_id\}\/revoke)(?:\/|$)/.test(path);
  if (security.some((scheme) => "session" in scheme)) return isConsumerRoute ? "person" : "owner";
  if (!security.some((scheme) => "apiKey" in scheme)) return "public";
  return path.startsWith("/v1/sandbox/") ? "sandbox" : "business";
};

/** Each kind of caller signs in once for all requests, and again after a request that ends the session. */
const savedCredentials = new Map<Caller, Headers>();
const getCredentials = async (caller: Caller): Promise<Headers> => {
  const found = savedCredentials.get(caller) ?? (await callers[caller]());
  savedCredentials.set(caller, found);
  return found;
};
const sendAsCaller = async (caller: Caller, send: (credentials: Headers) => Promise<TestResponse>): Promise<TestResponse> => {
  const response = await send(await getCredentials(caller));
  if (response.status !== 401 || caller === "public") return response;
  savedCredentials.delete(caller);
  return send(await getCredentials(caller));
};

const ids: Readonly<Record<string, () => string>> = {
  cert_id: () => certId,
  webhook_id: () => "whk_00000000000000000000000000",
  delivery_id: () => "dlv_00000000000000000000000000",
  share_id: () => "shr_00000000000000000000000000",
  domain_id: () => "dom_00000000000000000000000000",
  key_id: () => "key_00000000000000000000000000",
  client_id: () => "pc_live_00000000000000000000000000",
  member_id: () => "mem_00000000000000000000000000",
};
/** Failed matches are counted per certificate, so these requests use a certificate that does not exist. */
const unknownCertId = "cc_00000000000000000000000000";
const buildAddress = ({ path }: Operation): string =>
  path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => (path.endsWith("/match") ? unknownCertId : (ids[name]?.() ?? name)));

const mark = "qZsentqZ";
/** Wrong values of every type. `undefined` removes the member, because JSON has no such value. */
const wrongValues: readonly unknown[] = [
  undefined,
  mark,
  "",
  mark.repeat(5_000),
  `${mark}\u0000`,
  `${mark}\u2028`,
  -77_777.5,
  7_777_777_777,
  true,
  [],
  [mark],
  [-77_777.5],
  Array.from({ length: 1_001 }, (_, at) => `${mark}${at}`),
  {},
  { [mark]: mark },
];
const wrongTexts: readonly string[] = [
  "",
  mark,
  "-77777",
  "77777.5",
  "7".repeat(60),
  `${mark}@`,
  `${mark},${mark}`,
  "2026-02-30",
  mark.repeat(80),
];

interface Tried {
  readonly input: string;
  readonly response: TestResponse;
}

/**
 * Lists copies of the example body, each with one property changed to a wrong value. Covers every combination of property and wrong value,
 * including properties of nested objects and of objects in arrays.
 */
const buildBadBodies = (body: NonNullable<Operation["body"]>): readonly { readonly input: string; readonly sent: unknown }[] => {
  const shape = resolveSchema(body.schema);
  return listProperties(shape).flatMap((name) => {
    const wrongBodies = wrongValues.map((value) => ({ input: name, sent: { ...body.example, [name]: value } }));
    const schema = resolveSchema(shape.properties?.[name] ?? {});
    const item = schema.items === undefined ? null : resolveSchema(schema.items);
    const options = [schema, ...(schema.anyOf ?? []).map(resolveSchema)];
    const inner = options
      .flatMap((option) => listProperties(option))
      .flatMap((key) => wrongValues.map((value) => ({ input: name, sent: { ...body.example, [name]: { [key]: value } } })));
    const listed = (item === null ? [] : listProperties(item)).flatMap((key) =>
      wrongValues.map((value) => ({ input: name, sent: { ...body.example, [name]: [{ [key]: value }] } })),
    );
    return [...wrongBodies, ...inner, ...listed];
  });
};

const sendInvalidInputs = async (operation: Operation): Promise<readonly Tried[]> => {
  const attempts: Tried[] = [];
  const path = buildAddress(operation);
  const caller = getCaller(operation);
  const send = async (input: string, query: string, headers: Record<string, string>, body: unknown): Promise<void> => {
    const response = await sendAsCaller(caller, (credentials) =>
      unlimited(`${path}${query}`, {
        method: operation.method,
        headers: {
          ...(path === "/v1/consent" && { origin }),
          ...(operation.method !== "GET" && { "content-type": "application/json" }),
          ...credentials,
          ...headers,
        },
        ...(operation.method !== "GET" && { body: JSON.stringify(body) }),
      }),
    );
    attempts.push({ input, response });
  };
  const example = operation.body?.example ?? {};
  const needed = operation.parameters.filter((parameter) => parameter.in === "query" && parameter.required);
  const requiredQuery = needed.map(({ name, schema }): [string, string] => [name, String(schema.example ?? schema.enum?.[0])]);
  for (const { in: place, name } of operation.parameters) {
    if (place === "query") {
      const others = requiredQuery.filter(([other]) => other !== name);
      const withOthers = (...values: string[]): string => `?${new URLSearchParams([...others, ...values.map((text) => [name, text])])}`;
      for (const text of wrongTexts) await send(name, withOthers(text), {}, example);
      await send(name, withOthers("1", mark), {}, example);
    }
    if (place === "header" && name !== "Origin" && name !== "If-None-Match")
      for (const text of wrongTexts) await send(name, "", { [name]: text }, example);
  }
  for (const { input, sent } of operation.body === null ? [] : buildBadBodies(operation.body)) await send(input, "", {}, sent);
  return attempts;
};

const vague = /\b(?:invalid|not valid|wrong type|undefined|NaN|expected|received|zod)\b/i;
const findFault = ({ input, response }: Tried): string | null => {
  const { code, message } = response.body.error;
  if (["opt_out_failed", "login_failed", "passkey_refused", "code_invalid"].includes(code)) return null; // by design, each of these codes has the same message regardless of the reason
  if (!message.toLowerCase().split(":")[0].split(/[ .,]/).includes(input.toLowerCase())) return `does not name ${input}: ${message}`;
  if (!/^[^:]+: [^\n]+\.$/.test(message)) return `is no sentence: ${message}`;
  if (vague.test(message)) return `does not name the rule: ${message}`;
  return response.text.includes(mark) || response.text.includes("77777") ? `repeats what was sent: ${message}` : null;
};

describe("the message of a 400 response", () => {
  test("names the input and the rule, and never repeats what was sent, on every route", { timeout: 300_000 }, async () => {
    const faults = new Set<string>();
    const refused = new Map<string, number>();
    for (const operation of operations) {
      for (const attempt of await sendInvalidInputs(operation)) {
        expect(attempt.response.status, `${operation.method} ${operation.path} ${attempt.input}`).not.toBe(429);
        if (attempt.response.status !== 400) continue;
        const name = `${operation.method} ${operation.path}`;
        refused.set(name, (refused.get(name) ?? 0) + 1);
        const fault = findFault(attempt);
        if (fault !== null) faults.add(`${name}: ${fault}`);
      }
    }
    expect([...faults]).toEqual([]);
    const operationsWithInput = operations.filter(
      ({ body, parameters }) =>
        (body !== null && listProperties(body.schema).length > 0) || parameters.some((parameter) => parameter.in === "query"),
    );
    expect(operationsWithInput.map(({ method, path }) => `${method} ${path}`).filter((name) => !refused.has(name))).toEqual([]);
  });

  test("says that the body is not a JSON object", async () => {
    const messages = await Promise.all(
      ["[]", "7", '"text"', "null", "{", "", '{"a":1,"a":2}'].map(async (body) => (await submitConsent(body)).body.error.message),
    );
    expect(messages.every((message) => message.startsWith("The body "))).toBe(true);
  });
});

describe("the message of a 415 response", () => {
  test.each([
    [null, "Content-Type: is required and must be application/json or text/plain."],
    ["text/html", "Content-Type: must be application/json or text/plain."],
    ["application/json; charset=iso-8859-1", "Content-Type: the charset must be UTF-8."],
    ["text/plain;charset=utf-16", "Content-Type: the charset must be UTF-8."],
    ['text/plain; charset="windows-1252"', "Content-Type: the charset must be UTF-8."],
  ])("for Content-Type %s names the required type or charset", async (type, message) => {
    const response = await submitConsent(buildSubmission(), { "content-type": type });
    expect(response.status).toBe(415);
    expect(response.body.error).toEqual({ code: "unsupported_media_type", message });
  });

  test("is not sent for UTF-8 in any spelling", async () => {
    for (const type of ["application/json; charset=UTF-8", 'text/plain;charset="utf-8"', "application/json;charset=utf8", "text/plain"])
      expect((await submitConsent(buildSubmission(), { "content-type": type })).status, type).toBe(201);
  });
});
