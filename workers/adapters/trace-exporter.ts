// Sends spans to an OpenTelemetry collector with OTLP over HTTP, encoded as JSON. Each isolate sends one request at a time and never
// retries. If the collector is slow or unavailable, spans are lost, but no caller waits.
import { minuteMs, secondMs, type Clock, type Instant } from "../../core/time.ts";
import type { TraceSettings } from "../env.ts";
import { sendWithLimits, type SendRequest } from "./exchange.ts";

/** The attributes of a span. Numbers must be integers. Attributes without a value are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The numbers that OTLP uses for the kinds of spans. */
export const spanKinds = { internal: 1, server: 2, client: 3 } as const;

export interface Span {
  /** An ID of 32 hex digits, the same for all spans of a trace. */
  readonly traceId: string;
  /** An ID of 16 hex digits. */
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly kind: (typeof spanKinds)[keyof typeof spanKinds];
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly isError: boolean;
  readonly attributes: Attributes;
}

/**
 * Sends the spans. If another request is in progress, adds them to the next request instead. Drops them if too many are waiting. Never
 * throws.
 */
export type ExportSpans = (spans: readonly Span[]) => Promise<void>;

const limits = { timeoutMs: 5 * secondMs, maxBytes: 65_536 }; // the response must be read to the end, but its content is not used
const leaseMs = limits.timeoutMs + secondMs; // a sender that has not finished by then was ended by the platform
const maxWaitingSpans = 1_000; // this many spans take about 500 kB
const maxRequestsInTurn = 5; // five requests take at most 25 s, and the platform stops work 30 s after the response
const errorStatusCode = 2;

const toAttributes = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value } }],
  );

const toNanoseconds = (at: Instant): string => `${at}000000`; // a string, because a JSON number cannot represent every 64-bit integer

/** Encodes spans as the ExportTraceServiceRequest of OTLP 1. `resource` describes the deployment. */
export const encodeSpans = (resource: Attributes, spans: readonly Span[]) => ({
  resourceSpans: [
    {
      resource: { attributes: toAttributes(resource) },
      scopeSpans: [
        {
          scope: { name: "svc" },
          spans: spans.map(({ traceId, id, parentId, name, kind, startedAt, endedAt, isError, attributes }) => ({
            traceId,
            spanId: id,
            ...(parentId !== null && { parentSpanId: parentId }),
            name,
            kind,
            startTimeUnixNano: toNanoseconds(startedAt),
            endTimeUnixNano: toNanoseconds(endedAt),
            attributes: toAttributes(attributes),
            status: isError ? { code: errorStatusCode } : {},
          })),
        },
      ],
    },
  ],
});

/**
 * Creates the exporter. Reports lost spans with `report`, at most once a minute: the kind of the last failure, and how many spans were lost
 * since the last report.
 */
export const createTraceExporter = (
  { url, headers }: TraceSettings,
  resource: Attributes,
  clock: Clock,
  report: (fault: string) => void,
  send: SendRequest = (request) => fetch(request),
): ExportSpans => {
  let waiting: Span[] = [];
  let busyUntil: Instant = 0;
  let lost = 0;
  let reportedAt: Instant = 0;

  const lose = (count: number, fault: string): void => {
    lost += count;
    if (clock() - reportedAt < minuteMs) return;
    report(`${fault}, ${lost} spans lost`);
    lost = 0;
    reportedAt = clock();
  };

  const sendSpans = async (spans: readonly Span[]): Promise<string | null> => {
    const body = JSON.stringify(encodeSpans(resource, spans));
    const request = { method: "POST", headers: [...headers, ["content-type", "application/json"]] as [string, string][], body };
    const sent = await sendWithLimits(send, url, request, limits);
    if (!sent.ok) return sent.code;
    return sent.response.status === 200 ? null : `http_${sent.response.status}`;
  };

  return async (spans) => {
    // Do not return if these spans are lost, because spans from earlier calls may still be waiting to be sent.
    if (waiting.length + spans.length > maxWaitingSpans) lose(spans.length, "collector too slow");
    else waiting.push(...spans);
    if (clock() < busyUntil) return; // the invocation that is sending now will also send these spans
    for (let requests = 0; requests < maxRequestsInTurn && waiting.length > 0; requests += 1) {
      busyUntil = clock() + leaseMs;
      const batch = waiting;
      waiting = [];
      const fault = await sendSpans(batch);
      if (fault !== null) lose(batch.length, fault);
    }
    busyUntil = 0;
  };
};
