// Tests the typed client against a local service, and against mocked responses of a busy, unreachable or incorrect server.
import { describe, expect, test } from "vitest";
import { createSvc, pagesOf, type Svc, type SvcOptions } from "../../kit/client.ts";
import { startServiceForFile } from "../support/local-service.ts";

const service = await startServiceForFile();

const withKey = (apiKey: string): Svc => createSvc({ baseUrl: service.origin, apiKey });
const createSandboxClient = (): Svc => withKey(service.world.acme.keys.sandbox);
const createSubmission = () => ({
  client_id: service.world.acme.clients.live,
  fields: { email: "pat@example.com" },
  disclosure_text: "I agree to be called.",
  entities: ["Acme Solar LLC"],
  purpose: "solar quotes",
  page_url: "https://www.example.com/quote",
});
const fromSite = { Origin: "https://www.example.com" };

describe("against the service", () => {
  test("issues, reads, lists, exports and withdraws certificates with the business's key", async () => {
    const svc = withKey(service.world.acme.keys.live);
    const issued = await svc.captureConsent({ headers: fromSite, body: createSubmission() });
    expect(issued.error).toBeUndefined();
    const cert_id = issued.data?.cert_id as string;
    const read = await svc.readCertificate({ path: { cert_id } });
    expect(read.data?.subject).toEqual({ email: "pat@example.com" });
    // Only a request with an API key is recorded as captured by a server.
    expect(read.data?.evidence?.captured_via).toBe("server");
    const pack = await svc.exportEvidencePack({ path: { cert_id }, query: { format: "zip" } }, { parseAs: "arrayBuffer" });
    expect(
      Buffer.from(pack.data as unknown as ArrayBuffer)
        .subarray(0, 2)
        .toString(),
    ).toBe("PK");
    const withdrawn = await svc.recordWithdrawal({ path: { cert_id }, body: { method: "phone", received_at: new Date().toISOString() } });
    expect(withdrawn.data?.cease_by).toMatch(/T23:59:59\.999Z$/);
    const stranger = await withKey(service.world.other.keys.live).readCertificate({ path: { cert_id } });
    expect([stranger.data, stranger.error?.code, stranger.response.status]).toEqual([undefined, "cert_not_found", 404]);
  });

  test("pages through lists to the end, with each record once", async () => {
    const svc = createSandboxClient();
    const createdIds: string[] = [];
    for (let at = 0; at < 5; at += 1)
      createdIds.push((await svc.triggerSandboxEvent({ body: { type: "share.created" } })).data?.share.id as string);
    const shares: string[] = [];
    for await (const page of pagesOf(svc, "listShares", { limit: 2 })) shares.push(...(page.data?.shares ?? []).map(({ id }) => id));
    expect(shares).toEqual(createdIds.toReversed());
    const seen: (string | null)[] = [];
    for await (const page of pagesOf(svc, "listEvents", { limit: 2 }))
      seen.push(...(page.data?.events ?? []).map((event) => event.share_id));
    expect(seen).toEqual(createdIds);
    const live = withKey(service.world.acme.keys.live);
    for (let at = 0; at < 3; at += 1) await live.captureConsent({ headers: fromSite, body: createSubmission() });
    const certs: string[] = [];
    for await (const page of pagesOf(live, "listCertificates", { per_page: 2 }))
      certs.push(...(page.data?.certs ?? []).map((one) => one.cert_id));
    expect(new Set(certs).size).toBe(certs.length);
    expect(certs.length).toBe((await live.listCertificates()).data?.total);
    expect(certs.length).toBeGreaterThan(2);
  });

  test("returns a refusal as a value and as the last page of a list", async () => {
    const stranger = withKey(`sk_live_00${"x".repeat(43)}`);
    const result = await stranger.listShares();
    expect([result.data, result.error, result.response.status]).toEqual([
      undefined,
      { code: "unauthorized", message: expect.any(String) },
      401,
    ]);
    const pages = await Array.fromAsync(pagesOf(stranger, "listEvents"));
    expect(pages.map(({ error }) => error?.code)).toEqual(["unauthorized"]);
    const invalid = await createSandboxClient().triggerSandboxEvent({ body: { type: "share.eaten" as "share.created" } });
    expect(invalid.error?.code).toBe("invalid_request");
  });

  test("issues one certificate for the caller's idempotency key and marks the second response as replayed", async () => {
    const svc = withKey(service.world.acme.keys.live);
    const once = { headers: { ...fromSite, "Idempotency-Key": "order-4711" }, body: createSubmission() };
    const [first, repeated] = [await svc.captureConsent(once), await svc.captureConsent(once)];
    expect(repeated.data?.cert_id).toBe(first.data?.cert_id);
    expect([first, repeated].map(({ response }) => response.headers.get("idempotency-replayed"))).toEqual([null, "true"]);
  });

  test("retries a lost response under the same key and issues one certificate", async () => {
    let lost = 0;
    const fetchAndLoseResponse: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      lost += 1;
      if (lost > 1) return response;
      throw new TypeError("terminated");
    };
    const { acme } = service.world;
    const svc = createSvc({ baseUrl: `${service.origin}/v1/`, apiKey: acme.keys.live, fetch: fetchAndLoseResponse });
    const before = (await withKey(acme.keys.live).listCertificates()).data?.total as number;
    const issued = await svc.captureConsent({ headers: fromSite, body: createSubmission() });
    expect(issued.data?.cert_id).toMatch(/^cc_/);
    expect(lost).toBe(2);
    expect((await withKey(acme.keys.live).listCertificates()).data?.total).toBe(before + 1);
  });
});

interface Sent {
  readonly url: string;
  readonly method: string | undefined;
  readonly headers: Headers;
  readonly at: number;
}

/** Creates a client with mocked responses and records the requests it sends. */
const createPlayback = (
  responses: readonly (Response | Error)[],
  more: Partial<SvcOptions> = {},
): { readonly svc: Svc; readonly sent: Sent[] } => {
  const sent: Sent[] = [];
  const send: typeof fetch = async (input, init) => {
    sent.push({ url: String(input), method: init?.method, headers: new Headers(init?.headers), at: performance.now() });
    const response = responses[sent.length - 1];
    if (response === undefined) throw new Error("asked once too often");
    if (response instanceof Error) throw response;
    return response;
  };
  return { svc: createSvc({ baseUrl: "https://api.example.com/v1", apiKey: "sk_test_x", fetch: send, ...more }), sent };
};
const createSuccess = (data: unknown): Response => Response.json({ ok: true, data, request_id: "req_x" });
const createRefusal = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ ok: false, error: { code, message: "Said." }, request_id: "req_x" }, { status, headers });
const createNetworkError = (): Error => new TypeError("fetch failed");

test("ends a list of certificates after its last page, although more match", async () => {
  const buildPage = (page: number, certs: readonly object[]) =>
    createSuccess({ certs, total: 1_000_000, page, per_page: 100, truncated: true });
  const { svc, sent } = createPlayback([buildPage(1, [{ cert_id: "cc_1" }]), buildPage(2, [])]);
  const pages = await Array.fromAsync(pagesOf(svc, "listCertificates", { per_page: 100 }));
  expect(pages.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect(sent).toHaveLength(2);
});

describe("against a busy or unreachable service", () => {
  test("waits for Retry-After and retries", async () => {
    const { svc, sent } = createPlayback([createRefusal(429, "rate_limited", { "retry-after": "1" }), createSuccess({ ok: 1 })]);
    expect((await svc.readSandboxClock()).error).toBeUndefined();
    expect((sent[1] as Sent).at - (sent[0] as Sent).at).toBeGreaterThanOrEqual(990);
    expect(sent.map(({ url }) => url)).toEqual(Array(2).fill("https://api.example.com/v1/sandbox/clock"));
    expect((sent[0] as Sent).headers.get("authorization")).toBe("Bearer sk_test_x");
  });

  test("returns a refusal whose Retry-After exceeds patienceSeconds", async () => {
    const { svc, sent } = createPlayback([createRefusal(429, "rate_limited", { "retry-after": "3600" })]);
    expect((await svc.readSandboxClock()).error?.code).toBe("rate_limited");
    expect(sent.length).toBe(1);
  });

  test("retries a POST under one idempotency key, and uses a new key for each call", async () => {
    const { svc, sent } = createPlayback([
      createNetworkError(),
      createRefusal(503, "storage_unavailable"),
      createSuccess({}),
      createSuccess({}),
    ]);
    await svc.resetSandbox();
    await svc.resetSandbox();
    const keys = sent.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys[0]).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(keys.slice(0, 3)).size).toBe(1);
    expect(keys[3]).not.toBe(keys[0]);
  });

  test("retries while a request with the same idempotency key is in progress, but not after another conflict", async () => {
    const inProgress = (): Response => createRefusal(409, "idempotency_conflict", { "retry-after": "0" });
    const retried = createPlayback([inProgress(), inProgress(), createSuccess({ ended: 1 })]);
    expect((await retried.svc.resetSandbox()).data).toEqual({ ended: 1 });
    const otherBody = createPlayback([createNetworkError(), createRefusal(409, "idempotency_conflict")]);
    expect((await otherBody.svc.resetSandbox()).error?.code).toBe("idempotency_conflict");
    expect(otherBody.sent.length).toBe(2);
  });

  test("does not retry a POST without an idempotency key that may have taken effect", async () => {
    const { svc, sent } = createPlayback([createNetworkError()]);
    expect((await svc.searchCertificates({ body: {} })).error?.code).toBe("unreachable");
    expect(sent.length).toBe(1);
    const counted = createPlayback([createRefusal(429, "rate_limited", { "retry-after": "1" }), createSuccess({ certs: [] })]);
    expect((await counted.svc.searchCertificates({ body: {} })).error).toBeUndefined();
  });

  test("does not retry a permanent refusal", async () => {
    for (const status of [400, 401, 402, 403, 404, 409, 410, 422]) {
      const { svc, sent } = createPlayback([createRefusal(status, "no")]);
      expect((await svc.readSandboxClock()).error?.code).toBe("no");
      expect(sent.length).toBe(1);
    }
  });

  test("returns unreachable as a value after three attempts", async () => {
    const { svc, sent } = createPlayback([createNetworkError(), createNetworkError(), createNetworkError()]);
    const { data, error, response } = await svc.readSandboxClock();
    expect([data, error?.code, response.ok, response.status, sent.length]).toEqual([undefined, "unreachable", false, 0, 3]);
  });

  test("returns unreachable when an attempt times out", async () => {
    const hangFetch: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    const svc = createSvc({ baseUrl: "https://api.example.com", retries: 0, timeoutMs: 50, fetch: hangFetch });
    expect((await svc.health()).error?.code).toBe("unreachable");
  });

  test("throws when the caller aborts the call", async () => {
    const ended = new AbortController();
    ended.abort(new Error("enough"));
    const { svc } = createPlayback([createSuccess({})]);
    await expect(svc.readSandboxClock({}, { signal: ended.signal })).rejects.toThrow("enough");
  });

  test("returns unexpected_answer for a response from another server", async () => {
    for (const status of [200, 404]) {
      const page = new Response("<h1>Sign in to the hotel's network</h1>", { status, headers: { "content-type": "text/html" } });
      const broken = new Response("{", { status, headers: { "content-type": "application/json" } });
      for (const response of [page, broken]) {
        const { error, data } = await createPlayback([response], { retries: 0 }).svc.readSandboxClock();
        expect([error?.code, data]).toEqual(["unexpected_answer", undefined]);
      }
    }
  });
});
