// Records traces of a sample of requests, jobs and webhook deliveries: which calls each one made, and how long they took. A span contains
// only names from the source code, shards, counts, statuses, error codes and the request ID. Arguments of calls, such as KV keys, and names
// of Durable Objects are never recorded, because they can identify a business or a person.
import { AsyncLocalStorage } from "node:async_hooks";
import { toHex } from "../../core/bytes.ts";
import type { RandomBytes } from "../../core/ids.ts";
import type { Clock, Instant } from "../../core/time.ts";
import type { TraceShard } from "../../storage/shards.ts";
import { spanKinds, type Attributes, type ExportSpans, type Span } from "../adapters/trace-exporter.ts";
import type { Env } from "../env.ts";
import { getErrorKind, type Log } from "../log.ts";
import type { Platform } from "./platform.ts";

type AsyncFunction<Args extends unknown[], Result> = (...args: Args) => Promise<Result>;

export interface Tracer {
  readonly trace: Platform["trace"];
  /** Runs work that continues after the response as part of the current trace. */
  readonly continueTrace: (work: () => Promise<void>) => Promise<void>;
  /** Returns a function that records its calls as spans with this name. `describe` returns attributes of a result. */
  readonly traceCalls: <Given extends unknown[], Result>(
    name: string,
    call: AsyncFunction<Given, Result>,
    describe?: (result: Result) => Attributes,
  ) => AsyncFunction<Given, Result>;
  /** Returns an object that records calls of its methods. All of its methods must return promises. */
  readonly traceMethods: <Target extends object>(name: string, target: Target) => Target;
  readonly traceShard: TraceShard;
  /** Returns a log that also copies a request's log line into the current trace. */
  readonly traceRequests: (log: Log) => Log;
}

/** The tracer of a deployment without traces. It runs all calls without recording them. */
export const noTracer: Tracer = {
  trace: (_, work) => work(),
  continueTrace: (work) => work(),
  traceCalls: (_, call) => call,
  traceMethods: (_, target) => target,
  traceShard: () => undefined,
  traceRequests: (log) => log,
};

const maxCalls = 128; // a request makes about ten calls, but a job can make hundreds

interface OpenTrace {
  readonly id: string;
  /** The span of the whole request or job. Null until it has ended. */
  root: Span | null;
  readonly calls: Span[];
  droppedCalls: number;
  /** The number of tasks that can still add spans: the request or job itself, and work that continues after the response. */
  openWork: number;
  /** The name and attributes from the request's log line. Null until that line is written, and always null for jobs and deliveries. */
  request: Pick<Span, "name" | "kind" | "isError" | "attributes"> | null;
}

export interface TracerSettings {
  readonly sampleRate: number;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly exportSpans: ExportSpans;
  /** Keeps the invocation running until the spans are sent. */
  readonly waitUntil: (work: Promise<void>) => void;
}

const describeNothing = (): Attributes => ({});

/**
 * Adds up a figure over the results of a D1 call. Returns undefined if no result contains the figure, for example because the query
 * returned only values.
 */
const sumMeta = (result: unknown, figure: "rows_read" | "rows_written"): number | undefined => {
  const results = [result].flat() as readonly ({ readonly meta?: Partial<D1Meta> } | null)[];
  const counts = results.flatMap((each) => each?.meta?.[figure] ?? []);
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0);
};

export const createTracer = ({ sampleRate, clock, random, exportSpans, waitUntil }: TracerSettings): Tracer => {
  const current = new AsyncLocalStorage<{ readonly trace: OpenTrace; readonly spanId: string }>();

  /** Runs work in a span. `finish` receives the span when the work ends. */
  const runSpan = async <T>(
    trace: OpenTrace,
    parentId: string | null,
    name: string,
    work: () => Promise<T>,
    describe: (result: T) => Attributes,
    finish: (span: Span) => void,
  ): Promise<T> => {
    const id = toHex(random(8));
    const startedAt: Instant = clock();
    let attributes: Attributes = {};
    try {
      const result = await current.run({ trace, spanId: id }, work);
      attributes = describe(result);
      return result;
    } catch (error) {
      attributes = { "error.type": getErrorKind(error) };
      throw error;
    } finally {
      const isError = attributes["error.type"] !== undefined;
      const kind = parentId === null ? spanKinds.internal : spanKinds.client;
      finish({ traceId: trace.id, id, parentId, name, kind, startedAt, endedAt: clock(), isError, attributes });
    }
  };

  const addCall = (trace: OpenTrace, span: Span): void => {
    if (trace.calls.length < maxCalls) trace.calls.push(span);
    else trace.droppedCalls += 1;
  };

  const recordCall = <T>(name: string, work: () => Promise<T>, describe: (result: T) => Attributes = describeNothing): Promise<T> => {
    const position = current.getStore();
    if (position === undefined) return work();
    const { trace, spanId } = position;
    return runSpan(trace, spanId, name, work, describe, (span) => addCall(trace, span));
  };

  /** Ends one of the trace's tasks. After the last one, sends the trace. */
  const endWork = async (trace: OpenTrace): Promise<void> => {
    trace.openWork -= 1;
    if (trace.openWork > 0 || trace.root === null) return;
    const root = { ...trace.root, ...trace.request };
    const dropped = { "svc.dropped_spans": trace.droppedCalls === 0 ? undefined : trace.droppedCalls };
    await exportSpans([{ ...root, attributes: { ...root.attributes, ...dropped } }, ...trace.calls]);
  };

  return {
    trace: async (name, work) => {
      if (new DataView(random(4).buffer).getUint32(0) >= sampleRate * 2 ** 32) return work();
      const trace: OpenTrace = { id: toHex(random(16)), root: null, calls: [], droppedCalls: 0, openWork: 1, request: null };
      try {
        return await runSpan(trace, null, name, work, describeNothing, (span) => {
          trace.root = span;
        });
      } finally {
        waitUntil(endWork(trace));
      }
    },
    continueTrace: (work) => {
      const trace = current.getStore()?.trace;
      if (trace === undefined || trace.openWork === 0) return work();
      trace.openWork += 1;
      return work().finally(() => endWork(trace));
    },
    traceCalls:
      (name, call, describe) =>
      (...args) =>
        recordCall(name, () => call(...args), describe),
    traceMethods: (name, target) =>
      new Proxy(target, {
        get: (_, method) => {
          const member: unknown = Reflect.get(target, method);
          if (typeof member !== "function") return member;
          return (...args: unknown[]) =>
            recordCall(`${name} ${String(method)}`, () => Reflect.apply(member, target, args) as Promise<unknown>);
        },
      }),
    traceShard: (shard) => (queries, call) =>
      recordCall(queries === 1 ? "D1 query" : "D1 batch", call, (result) => ({
        "svc.shard": shard,
        "db.operation.batch.size": queries,
        "cloudflare.d1.response.rows_read": sumMeta(result, "rows_read"),
        "cloudflare.d1.response.rows_written": sumMeta(result, "rows_written"),
      })),
    traceRequests: (log) => ({
      ...log,
      request: (line) => {
        log.request(line);
        const trace = current.getStore()?.trace;
        if (trace === undefined) return;
        trace.request = {
          name: `${line.method} ${line.route}`,
          kind: spanKinds.server,
          isError: line.status >= 500,
          attributes: {
            "http.request.method": line.method,
            "http.route": line.route,
            "http.response.status_code": line.status,
            "error.type": line.code,
            "svc.request_id": line.request_id,
          },
        };
      },
    }),
  };
};

/** Returns the bindings, with traced calls for those listed below. Calls to D1 are traced by `traceShard` instead. */
export const traceBindings = (env: Env, { traceMethods }: Tracer): Env => {
  const traceNamespace = <Namespace extends { readonly getByName: (...args: never[]) => object }>(name: string, namespace: Namespace) =>
    ({ getByName: (...args: never[]) => traceMethods(name, namespace.getByName(...args)) }) as unknown as Namespace;
  return {
    ...env,
    ASSETS: traceMethods("Assets", env.ASSETS),
    KV: traceMethods("KV", env.KV),
    ANCHOR_QUEUE: traceMethods("Queue", env.ANCHOR_QUEUE),
    RATE_LIMITER: traceNamespace("RateLimiter", env.RATE_LIMITER),
    AUDIT_LOG: traceNamespace("AuditLog", env.AUDIT_LOG),
    EVENT_SEQUENCE: traceNamespace("EventSequence", env.EVENT_SEQUENCE),
    DESTINATION_HOST: traceNamespace("DestinationHost", env.DESTINATION_HOST),
    LEDGER_LOG: traceNamespace("LedgerLog", env.LEDGER_LOG),
    INTAKE_JOURNAL: traceNamespace("IntakeJournal", env.INTAKE_JOURNAL),
    ...(env.LOG_TILES !== undefined && { LOG_TILES: traceMethods("R2", env.LOG_TILES) }),
    ...(env.AI !== undefined && { AI: traceMethods("AI", env.AI) }),
  };
};
