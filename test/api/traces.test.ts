// Tests the traces that the service sends to an OpenTelemetry collector: what they contain, that they contain no personal data, and that
// the collector cannot affect a caller.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { minuteMs } from "../../core/time.ts";
import { createTraceExporter, encodeSpans, spanKinds, type Span } from "../../workers/adapters/trace-exporter.ts";
import { runScheduledJobs } from "../../workers/background/schedule.ts";
import { createSchedules } from "../../workers/background/follow-up-work.ts";
import type { Env } from "../../workers/env.ts";
import { createPlatform, getPlatform, randomBytes } from "../../workers/platform/create-platform.ts";
import { createTracer } from "../../workers/platform/tracer.ts";
import { startNewIsolate, trackBackgroundWork, waitUntilSettled } from "../support/background-work.ts";
import {
  commitEvents,
  createBusiness,
  eventSequences,
  mockReceivers,
  proveHost,
  registerEndpoint,
  runAlarm,
  type DeliveryQueueStub,
} from "../support/events.ts";
import { buildConsentRequest, buildSubmission, call, world } from "../support/world.ts";

const collector = "https://otlp.svc-tests.com/v1/traces";
const platform = await getPlatform(env);

/** Simulates a restart of the isolate with these settings. */
const restartWith = async (settings: Readonly<Record<string, string>>): Promise<void> => {
  trackBackgroundWork(Object.assign(platform, await createPlatform({ ...env, ...settings })));
  Object.assign(platform, createSchedules(platform));
};
const recordEverything = { OTLP_TRACES_URL: collector, OTLP_HEADERS: "authorization=Bearer%20token-of-the-tests", TRACE_SAMPLE_RATE: "1" };

/** Turns on tracing in the delivery queue's object, which does not use this file's platform. Returns a function that undoes this. */
const recordInQueue = async (queue: DeliveryQueueStub): Promise<() => void> => {
  const objectEnv = await runInDurableObject(queue, (object) => (object as unknown as { readonly env: Env }).env);
  const objectPlatform = await getPlatform(objectEnv);
  const original = { ...objectPlatform };
  Object.assign(objectPlatform, await createPlatform({ ...objectEnv, ...recordEverything }));
  return () => void Object.assign(objectPlatform, original);
};

const hexSchema = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${2 * bytes}}$`));
const attributesSchema = z.array(
  z.strictObject({
    key: z.string().min(1),
    value: z.union([z.strictObject({ stringValue: z.string() }), z.strictObject({ intValue: z.string().regex(/^-?\d+$/) })]),
  }),
);
/** The part of ExportTraceServiceRequest that the service uses (opentelemetry-proto 1.9, JSON encoding). Refuses any other field. */
const requestSchema = z.strictObject({
  resourceSpans: z.tuple([
    z.strictObject({
      resource: z.strictObject({ attributes: attributesSchema }),
      scopeSpans: z.tuple([
        z.strictObject({
          scope: z.strictObject({ name: z.string().min(1) }),
          spans: z
            .array(
              z
                .strictObject({
                  traceId: hexSchema(16),
                  spanId: hexSchema(8),
                  parentSpanId: hexSchema(8).optional(),
                  name: z.string().min(1),
                  kind: z.literal([1, 2, 3]),
                  startTimeUnixNano: z.string().regex(/^\d{19}$/),
                  endTimeUnixNano: z.string().regex(/^\d{19}$/),
                  attributes: attributesSchema.refine((all) => new Set(all.map(({ key }) => key)).size === all.length, "keys are unique"),
                  status: z.strictObject({ code: z.literal(2).optional() }),
                })
                .refine((span) => span.endTimeUnixNano >= span.startTimeUnixNano, "ends after it starts"),
            )
            .min(1),
        }),
      ]),
    }),
  ]),
});
type SentSpan = z.infer<typeof requestSchema>["resourceSpans"][0]["scopeSpans"][0]["spans"][number];

const readSpans = (body: string): readonly SentSpan[] => requestSchema.parse(JSON.parse(body)).resourceSpans[0].scopeSpans[0].spans;
const readAttributes = ({ attributes }: SentSpan): Record<string, string | number> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, "intValue" in value ? Number(value.intValue) : value.stringValue]));

type Posts = ReturnType<typeof mockReceivers>;
const listSpans = (posts: Posts): readonly SentSpan[] =>
  posts.filter(({ url }) => url === collector).flatMap(({ body }) => readSpans(body));

/** Waits until the trace with this name has been sent. Returns its spans. The first one covers the whole request or job. */
const waitForTrace = async (posts: Posts, name: string): Promise<readonly [SentSpan, ...SentSpan[]]> => {
  await expect.poll(() => listSpans(posts).map((span) => span.name)).toContain(name);
  const spans = listSpans(posts);
  const root = spans.find((span) => span.name === name) as SentSpan;
  return [root, ...spans.filter(({ traceId, spanId }) => traceId === root.traceId && spanId !== root.spanId)];
};

const marker = "zqmarkerqz";
const markedHeaders = {
  "cf-connecting-ip": "198.51.100.199",
  "user-agent": `${marker}-agent`,
  cookie: `svc_session=${marker}`,
  "accept-language": marker,
  "idempotency-key": marker,
  traceparent: "00-7a716d61726b6572717a7a716d61726b-7a716d61726b6572-01",
  tracestate: `${marker}=1`,
  baggage: `person=${marker}`,
};
const markedSubmission = {
  ...buildSubmission(),
  fields: { email: `${marker}@example.com`, first_name: marker, phone: "+1 202 555 0198" },
  disclosure_text: `${marker} disclosure`,
  entities: [`${marker} Inc`],
  purpose: `${marker} purpose`,
  page_url: `https://www.example.com/${marker}?${marker}=1`,
};

beforeEach(() => restartWith(recordEverything));
afterEach(async () => {
  await waitUntilSettled();
  vi.restoreAllMocks();
  await startNewIsolate();
});

describe("a trace", () => {
  test("describes a submission and each call that it made, and the collector accepts its format", async () => {
    const posts = mockReceivers(() => Response.json({}));
    const response = await call("/v1/consent", buildConsentRequest(markedSubmission, markedHeaders));
    expect(response.status).toBe(201);
    const [root, ...calls] = await waitForTrace(posts, "POST /v1/consent");
    expect(root.kind).toBe(spanKinds.server);
    expect(root.parentSpanId).toBeUndefined();
    expect(readAttributes(root)).toEqual({
      "http.request.method": "POST",
      "http.route": "/v1/consent",
      "http.response.status_code": 201,
      "svc.request_id": response.body.request_id,
    });
    expect(new Set(calls.map(({ kind }) => kind))).toEqual(new Set([spanKinds.client]));
    const [commit] = calls
      .filter(({ name }) => name === "D1 batch")
      .map(readAttributes)
      .filter((batch) => Number(batch["cloudflare.d1.response.rows_written"]) > 0);
    expect(commit).toMatchObject({ "svc.shard": "00" });
    expect(commit?.["db.operation.batch.size"]).toBeGreaterThan(1);
    const known = new Set([root, ...calls].map(({ spanId }) => spanId));
    expect(calls.filter(({ parentSpanId }) => parentSpanId === undefined || !known.has(parentSpanId))).toEqual([]);
    expect(posts.find(({ url }) => url === collector)?.headers.get("authorization")).toBe("Bearer token-of-the-tests");
  });

  test("has the error code of a refusal, and is an error only if the service failed", async () => {
    const posts = mockReceivers(() => Response.json({}));
    await call("/v1/consent", buildConsentRequest({ ...markedSubmission, entities: marker }, markedHeaders));
    const [root] = await waitForTrace(posts, "POST /v1/consent");
    expect(readAttributes(root)).toMatchObject({ "http.response.status_code": 400, "error.type": "invalid_request" });
    expect(root.status).toEqual({});
  });

  test("describes a webhook delivery without the endpoint", async () => {
    const posts = mockReceivers(() => Response.json({}));
    const url = `https://${marker}.merchant-tests.com/${marker}?token=${marker}`;
    const business = await createBusiness();
    const { queue } = await registerEndpoint(business, url);
    const stopRecording = await recordInQueue(queue);
    await proveHost(business, url);
    await commitEvents(business, 1);
    await eventSequences.getByName(business).drain();
    await runAlarm(queue);
    const [root, ...calls] = await waitForTrace(posts, "webhook delivery");
    expect(root.kind).toBe(spanKinds.internal);
    const webhook = calls.find(({ name }) => name === "webhook") as SentSpan;
    expect(readAttributes(webhook)).toEqual({ "http.response.status_code": 200 });
    const lookup = calls.find(({ name }) => name === "DNS");
    expect(lookup?.parentSpanId).toBe(webhook.spanId);
    expect(posts.filter((post) => post.url === url)).toHaveLength(1);
    expect(JSON.stringify(listSpans(posts))).not.toContain(marker);
    stopRecording();
  });

  test("describes a job", async () => {
    const posts = mockReceivers(() => Response.json({}));
    await runScheduledJobs(platform, "* * * * *", Date.now());
    const [root, ...calls] = await waitForTrace(posts, "job mail-relay");
    expect(root.kind).toBe(spanKinds.internal);
    expect(calls.map(({ name }) => name)).toContain("D1 query");
  });

  test("L16: contains nothing that a caller sent, and ignores a trace context, which strangers could choose", async () => {
    const posts = mockReceivers(() => Response.json({}));
    const issued = await call("/v1/consent", buildConsentRequest(markedSubmission, markedHeaders));
    const certId: string = issued.body.data.cert_id;
    const withKey = { headers: { ...markedHeaders, authorization: `Bearer ${world.acme.keys.live}` } };
    for (const [path, init] of [
      [`/v1/certs?subject_email=${marker}@example.com`, withKey],
      [`/v1/certs/${certId}`, withKey],
      [`/v1/certs/${certId}/verify`, withKey],
      [`/c/${certId}`, { headers: markedHeaders }],
      [`/${marker}/${marker}`, { headers: markedHeaders }],
      [
        "/v1/auth/request-code",
        {
          method: "POST",
          headers: { ...markedHeaders, "content-type": "application/json" },
          body: JSON.stringify({ email: `${marker}@example.com` }),
        },
      ],
    ] as const)
      await call(path, init);
    await waitUntilSettled();
    await waitForTrace(posts, "GET /c/*");
    await expect.poll(() => listSpans(posts).filter(({ kind }) => kind === spanKinds.server)).toHaveLength(7);
    const sent = JSON.stringify(posts.filter(({ url }) => url === collector).map(({ body }) => body));
    const { acme } = world;
    const values = [
      marker,
      "202555",
      "198.51.100",
      "7a716d61726b",
      certId,
      acme.id,
      acme.keys.live,
      acme.clients.live,
      "?",
      "@",
      "example.com",
      "Bearer",
    ];
    expect(values.filter((value) => sent.includes(value))).toEqual([]);
  });
});

describe("the collector", () => {
  test("L17: delays no response if it hangs, and gets one request at a time", async () => {
    const { promise: collectorAnswers, resolve: answerNow } = Promise.withResolvers<void>();
    const posts = mockReceivers(async ({ url }) => {
      if (url === collector) await collectorAnswers;
      return Response.json({});
    });
    for (let request = 0; request < 3; request += 1) expect((await call("/v1/health")).status).toBe(200);
    await expect.poll(() => posts.filter(({ url }) => url === collector)).toHaveLength(1); // all three callers already have their responses
    answerNow();
    await expect.poll(() => listSpans(posts).filter(({ name }) => name === "GET /v1/health")).toHaveLength(3);
  });

  test("gets nothing if the deployment has no URL or a sample rate of 0, and no binding is wrapped", async () => {
    for (const off of [{}, { ...recordEverything, TRACE_SAMPLE_RATE: "0" }]) {
      await restartWith(off);
      const posts = mockReceivers(() => Response.json({}));
      await call("/v1/consent", buildConsentRequest(markedSubmission));
      await waitUntilSettled();
      expect(posts.filter(({ url }) => url === collector)).toEqual([]);
      expect(platform.kv).toBe(env.KV);
      vi.restoreAllMocks();
    }
  });
});

const span: Span = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  id: "b7ad6b7169203331",
  parentId: null,
  name: "GET /v1/health",
  kind: spanKinds.server,
  startedAt: 1_795_000_000_000,
  endedAt: 1_795_000_000_012,
  isError: true,
  attributes: { "http.response.status_code": 503, "error.type": "unhealthy", "svc.request_id": undefined },
};

describe("the exporter", () => {
  test("encodes a span in the OTLP JSON format", () => {
    expect(encodeSpans({ "service.name": "svc" }, [span])).toEqual({
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "svc" } }] },
          scopeSpans: [
            {
              scope: { name: "svc" },
              spans: [
                {
                  traceId: "0af7651916cd43dd8448eb211c80319c",
                  spanId: "b7ad6b7169203331",
                  name: "GET /v1/health",
                  kind: 2,
                  startTimeUnixNano: "1795000000000000000",
                  endTimeUnixNano: "1795000000012000000",
                  attributes: [
                    { key: "http.response.status_code", value: { intValue: "503" } },
                    { key: "error.type", value: { stringValue: "unhealthy" } },
                  ],
                  status: { code: 2 },
                },
              ],
            },
          ],
        },
      ],
    });
  });

  test("reports failures at most once a minute, with the number of lost spans, and continues", async () => {
    let now = 1_795_000_000_000;
    let status = 503;
    const reports: string[] = [];
    const bodies: string[] = [];
    const settings = { url: collector, headers: [], sampleRate: 1 };
    const send = async (request: Request): Promise<Response> => {
      bodies.push(await request.text());
      if (status === 0) throw new Error("Network connection lost.");
      return new Response(null, { status });
    };
    const exportSpans = createTraceExporter(
      settings,
      {},
      () => now,
      (fault) => reports.push(fault),
      send,
    );
    for (let count = 0; count < 3; count += 1) await exportSpans([span, span]);
    expect(reports).toEqual(["http_503, 2 spans lost"]);
    now += minuteMs;
    status = 0;
    await exportSpans([span]);
    expect(reports.slice(1)).toEqual(["connection, 5 spans lost"]);
    status = 200;
    await exportSpans([span]);
    expect(reports).toHaveLength(2);
    expect(readSpans(bodies.at(-1) as string)).toHaveLength(1);
  });

  test("keeps at most 1,000 spans while a request is in progress, and sends them in one request", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const reports: string[] = [];
    const sizes: number[] = [];
    const send = async (request: Request): Promise<Response> => {
      sizes.push(readSpans(await request.text()).length);
      await promise;
      return Response.json({});
    };
    const settings = { url: collector, headers: [], sampleRate: 1 };
    const exportSpans = createTraceExporter(settings, {}, Date.now, (fault) => reports.push(fault), send);
    const first = exportSpans([span]);
    for (let count = 0; count < 11; count += 1) await exportSpans(Array.from({ length: 100 }, () => span));
    expect(reports).toEqual(["collector too slow, 100 spans lost"]);
    resolve();
    await first;
    expect(sizes).toEqual([1, 1_000]);
  });

  test("sends at most five requests in one call, and the spans that are still waiting with the next call", async () => {
    const reports: string[] = [];
    const sizes: number[] = [];
    const send = async (request: Request): Promise<Response> => {
      sizes.push(readSpans(await request.text()).length);
      if (sizes.length <= 5) await exportSpans(Array.from({ length: 1_000 }, () => span)); // one call sends at most five requests
      return Response.json({});
    };
    const settings = { url: collector, headers: [], sampleRate: 1 };
    const exportSpans = createTraceExporter(settings, {}, Date.now, (fault) => reports.push(fault), send);
    await exportSpans([span]);
    expect(sizes).toEqual([1, 1_000, 1_000, 1_000, 1_000]);
    for (let count = 0; count < 2; count += 1) await exportSpans([span]);
    expect(sizes.slice(5)).toEqual([1_000, 1]);
    expect(reports).toEqual(["collector too slow, 1 spans lost"]);
  });
});

describe("the tracer", () => {
  /** Creates a tracer with this sample rate. Its random 32-bit number for the sampling decision is `chosen` times 2^32. */
  const createSampled = (sampleRate: number, chosen: number) => {
    const traces: (readonly Span[])[] = [];
    const generateRandom = (count: number): Uint8Array => {
      const bytes = randomBytes(count);
      if (count === 4) new DataView(bytes.buffer).setUint32(0, chosen * 2 ** 32);
      return bytes;
    };
    const exportSpans = async (spans: readonly Span[]): Promise<void> => void traces.push(spans);
    return {
      traces,
      ...createTracer({ sampleRate, clock: Date.now, random: generateRandom as typeof randomBytes, exportSpans, waitUntil: () => {} }),
    };
  };

  test("records the configured share", async () => {
    for (const [rate, chosen, count] of [
      [0.25, 0.24, 1],
      [0.25, 0.26, 0],
      [1, 0.999, 1],
    ] as const) {
      const { trace, traces } = createSampled(rate, chosen);
      expect(await trace("job", async () => "result")).toBe("result");
      expect(traces, `${chosen} of ${rate}`).toHaveLength(count);
    }
  });

  test("records at most 128 calls of a trace and counts the others", async () => {
    const { trace, traceCalls, traces } = createSampled(1, 0);
    const callOut = traceCalls("KV get", async () => {});
    await trace("job", async () => {
      for (let count = 0; count < 130; count += 1) await callOut();
    });
    expect(traces[0]).toHaveLength(129);
    expect(traces[0]?.[0]?.attributes).toEqual({ "svc.dropped_spans": 2 });
  });

  test("keeps only the name of an error, and passes the error on", async () => {
    const { trace, traceCalls, traces } = createSampled(1, 0);
    const callOut = traceCalls("mail send", () => Promise.reject(new TypeError(`no mailbox ${marker}@example.com`)));
    await expect(trace("job", callOut)).rejects.toThrow("no mailbox");
    expect(traces[0]?.map(({ attributes, isError }) => [attributes["error.type"], isError])).toEqual([
      ["TypeError", true],
      ["TypeError", true],
    ]);
    expect(JSON.stringify(traces)).not.toContain(marker);
  });

  test("sends a trace when the work that follows the response has ended", async () => {
    const { trace, continueTrace, traceCalls, traces } = createSampled(1, 0);
    const callOut = traceCalls("KV put", async () => {});
    const { promise, resolve } = Promise.withResolvers<void>();
    let backgroundWork: Promise<void> = Promise.resolve();
    await trace("request", async () => {
      backgroundWork = continueTrace(async () => {
        await promise;
        await callOut();
      });
    });
    expect(traces).toEqual([]);
    resolve();
    await backgroundWork;
    expect(traces[0]?.map(({ name }) => name)).toEqual(["request", "KV put"]);
  });
});
