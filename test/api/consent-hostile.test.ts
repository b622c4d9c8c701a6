// Tests which input POST /v1/consent refuses, and which unusual input it accepts. A refused request must not change any table of any shard
// or any JavaScript prototype.
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { consentRequestSchema } from "../../workers/api/certificates/schema.ts";
import { hostileSubmissions, type HostileSubmission } from "../support/hostile-submissions.ts";
import { findStorageFaults } from "../support/stored-submissions.ts";
import { unusualSubmissions } from "../support/unusual-submissions.ts";
import { buildSubmissionWith, omitField } from "../support/submissions.ts";
import { call, submitConsent, buildConsentRequest, readDatabaseContents, countRows, type TestResponse } from "../support/world.ts";

/** Error messages may contain these words even if the input also contains them. */
const ownWords = new Set([
  ...Object.keys(consentRequestSchema.shape),
  ...["email", "message", "value", "accepted", "version", "sha256", "visible", "opt_in_type", "font_px", "contrast_ratio", "checkbox_name"],
  ...["application/json", "text/plain", "JSON", "true"],
]);

/** Lists the strings of at least four characters that the caller chose: values and object keys. */
const listChosenTexts = (value: unknown, depth = 0): string[] => {
  if (depth > 20) return []; // some inputs are nested very deeply
  if (typeof value === "string") return value.length >= 4 && !ownWords.has(value) ? [value] : [];
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    ...listChosenTexts(Array.isArray(value) ? null : key),
    ...listChosenTexts(member, depth + 1),
  ]);
};

/** Returns the parsed body, or the text itself if it is not JSON. */
const tryParseBody = (body: unknown): unknown => {
  if (typeof body !== "string") return body;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
};

const listFaults = (row: HostileSubmission, response: TestResponse, chosen: readonly string[]): string[] => {
  const faults: string[] = [];
  const { body } = response;
  if (response.status !== row.status || body?.error?.code !== row.code)
    faults.push(`answered ${response.status} ${body?.error?.code} instead of ${row.status} ${row.code}`);
  if (JSON.stringify([Object.keys(body ?? {}), Object.keys(body?.error ?? {})]) !== '[["ok","error","request_id"],["code","message"]]')
    faults.push(`has another envelope: ${response.text.slice(0, 200)}`);
  if (body?.ok !== false || body?.request_id !== response.headers.get("x-request-id")) faults.push("has no request id, or ok is not false");
  if (response.headers.get("access-control-allow-origin") !== "*") faults.push("cannot be read by the page");
  const repeated = chosen.find((value) => response.text.includes(value) || response.text.includes(JSON.stringify(value).slice(1, -1)));
  if (repeated !== undefined) faults.push(`repeats what was sent: ${response.text.slice(0, 200)}`);
  return faults;
};

const readPrototypes = (): string =>
  JSON.stringify([Object.prototype, Array.prototype, String.prototype].map((it) => Reflect.ownKeys(it).map(String)));
const readBothDatabases = async (): Promise<string> =>
  JSON.stringify([await readDatabaseContents(env.DB), await readDatabaseContents(env.DB_01)]);

describe("POST /v1/consent refuses", () => {
  test(`each of ${hostileSubmissions.length} hostile requests without echoing it or changing anything (F4)`, {
    timeout: 60_000,
  }, async () => {
    expect(hostileSubmissions.length).toBeGreaterThan(250);
    expect(new Set(hostileSubmissions.map(({ name }) => name)).size).toBe(hostileSubmissions.length);
    const faults: string[] = [];
    const ofPrototypes = readPrototypes();
    const before = await readBothDatabases();
    const tables = Object.keys(await readDatabaseContents());
    const countAllRows = async (): Promise<string> => JSON.stringify([await countRows(tables, env.DB), await countRows(tables, env.DB_01)]);
    const counts = await countAllRows();
    for (const [at, row] of hostileSubmissions.entries()) {
      const response = await call("/v1/consent", buildConsentRequest(row.body, row.headers));
      const chosen = [...listChosenTexts(tryParseBody(row.body)), ...listChosenTexts(Object.values(row.headers ?? {}))];
      faults.push(...listFaults(row, response, chosen).map((fault) => `${row.name}: ${fault}`));
      if ((await countAllRows()) !== counts || (at % 20 === 0 && (await readBothDatabases()) !== before)) {
        faults.push(`${row.name}, or one of the 20 before: changed the database`);
        break;
      }
      if (readPrototypes() !== ofPrototypes) faults.push(`${row.name}: changed a prototype`);
    }
    expect(faults).toEqual([]);
    expect(await readBothDatabases()).toBe(before);
  });

  test("with a message that names the input and the rule", async () => {
    const readErrorMessage = async (body: unknown): Promise<string> => (await submitConsent(body)).body.error.message;
    expect(await readErrorMessage(buildSubmissionWith({ purpose: "p".repeat(501) }))).toBe("purpose: must be at most 500 characters.");
    expect(await readErrorMessage(omitField("entities"))).toBe("entities: is required.");
    expect(await readErrorMessage(buildSubmissionWith({ esign: { disclosure_text: "x" } }))).toBe("esign.accepted: is required.");
    expect(await readErrorMessage(buildSubmissionWith({ entities: ["ok", 7] }))).toBe("entities: each must be a string.");
  });
});

describe("POST /v1/consent accepts", () => {
  test(`each of ${unusualSubmissions.length} unusual requests and stores it exactly`, { timeout: 60_000 }, async () => {
    expect(unusualSubmissions.length).toBeGreaterThan(45);
    const faults = await findStorageFaults(unusualSubmissions);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(faults).toEqual([]);
  });
});
