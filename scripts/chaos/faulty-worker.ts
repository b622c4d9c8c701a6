// The Worker of `npm run chaos`. It runs the whole service and can make the service's dependencies fail. POST /chaos/faults sets which of
// them fail. The Worker and its Durable Objects run in one isolate, so one list covers all of them. Requests to other machines go to the
// server in other-machines.ts instead.
import worker, * as service from "../../workers/index.ts";
import type { Env } from "../../workers/env.ts";
import { createBindingWrapper, wrapClass } from "../wrapped-service.ts";
import type { CallMode, Dependency, FailingCall } from "./faults.ts";

/** The delay of a late response. A submission does not wait this long for its database, but all other requests do. */
const lateMs = 1_500;
const pollMs = 25;

let failing: readonly FailingCall[] = [];

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const findMode = (dependency: Dependency): CallMode | undefined => failing.find((fault) => fault.dependency === dependency)?.mode;

const createError = (dependency: Dependency): Error => new Error(`Network connection lost (simulated: ${dependency})`);

/** Makes a call to the dependency and applies the fault that is currently set for it. `falsify` turns a response into wrong data. */
const makeCall = async <T>(
  dependency: Dependency,
  call: () => Promise<T>,
  falsify: (answer: T) => T | Promise<T>,
  signal?: AbortSignal | null,
): Promise<T> => {
  const mode = findMode(dependency);
  if (mode === "hang") {
    while (findMode(dependency) === "hang" && signal?.aborted !== true) await pause(pollMs);
    throw createError(dependency);
  }
  if (mode === "fail") throw createError(dependency);
  const result = await call();
  if (mode === "late") await pause(lateMs);
  if (mode === "lose_answer") throw createError(dependency);
  return mode === "wrong_data" ? falsify(result) : result;
};

/** A D1 statement whose calls can fail. It has the same methods as the platform's statement. */
class FaultyStatement {
  readonly statement: D1PreparedStatement;
  readonly #dependency: Dependency;

  constructor(dependency: Dependency, statement: D1PreparedStatement) {
    this.#dependency = dependency;
    this.statement = statement;
  }
  bind(...values: unknown[]): FaultyStatement {
    return new FaultyStatement(this.#dependency, this.statement.bind(...values));
  }
  all(): Promise<D1Result> {
    return makeCall(this.#dependency, () => this.statement.all(), dropRows);
  }
  run(): Promise<D1Result> {
    return this.all();
  }
  first(): Promise<unknown> {
    return makeCall(
      this.#dependency,
      () => this.statement.first(),
      () => null,
    );
  }
  raw(): Promise<unknown[]> {
    return makeCall(
      this.#dependency,
      () => this.statement.raw(),
      () => [],
    );
  }
}

const dropRows = <T extends D1Result>(result: T): T => ({ ...result, results: [] });

const wrapDatabase = (dependency: Dependency, binding: D1Database | D1DatabaseSession): D1Database => {
  const wrapped = {
    prepare: (sql: string) => new FaultyStatement(dependency, binding.prepare(sql)),
    batch: (statements: readonly FaultyStatement[]) =>
      makeCall(
        dependency,
        () => binding.batch(statements.map(({ statement }) => statement)),
        (results) => results.map(dropRows),
      ),
    withSession: (constraint: D1SessionConstraint) => wrapDatabase(dependency, (binding as D1Database).withSession(constraint)),
  };
  return wrapped as unknown as D1Database;
};

type Method = (...values: readonly unknown[]) => Promise<unknown>;

/** Wraps an object that is called over the network, so that the current fault applies to all of its methods. */
const wrapMethods = <T extends object>(dependency: Dependency, target: T, falsify: (answer: unknown) => unknown): T =>
  new Proxy(target, {
    get: (_, name) => {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function" || name === "then") return member;
      return (...values: readonly unknown[]) => makeCall(dependency, () => Reflect.apply(member as Method, target, values), falsify);
    },
  });

const wrongAnswer = (result: unknown): unknown => (result instanceof Response ? new Response("wrong data") : undefined);

const wrapObjects = <T extends DurableObjectNamespace<never>>(dependency: Dependency, namespace: T): T =>
  new Proxy(namespace, {
    get: (_, name) => {
      const member = Reflect.get(namespace, name) as unknown;
      if (typeof member !== "function") return member;
      if (name !== "getByName" && name !== "get") return member.bind(namespace) as unknown;
      return (...values: readonly unknown[]) =>
        wrapMethods(dependency, Reflect.apply(member as (...args: readonly unknown[]) => object, namespace, values), wrongAnswer);
    },
  });

/** Returns the R2 object with zeros instead of its bytes. Its metadata stays unchanged. */
const falsifyTile = (tile: unknown): unknown => {
  const { customMetadata, arrayBuffer } = (tile ?? {}) as Partial<R2ObjectBody>;
  return arrayBuffer === undefined ? tile : { customMetadata, arrayBuffer: async () => new ArrayBuffer(8_192) };
};

/** In the mode `wrong_data`, a queue drops the messages. */
const wrapQueue = <T>(dependency: Dependency, queue: Queue<T>): Queue<T> => {
  const send = (call: () => Promise<unknown>) =>
    findMode(dependency) === "wrong_data" ? Promise.resolve() : makeCall(dependency, call, (result) => result);
  return {
    send: (message: T) => send(() => queue.send(message)),
    sendBatch: (messages: Iterable<MessageSendRequest<T>>) => send(() => queue.sendBatch(messages)),
  } as Queue<T>;
};

/** A model that recognizes no form field. */
const model = { run: async () => ({ response: { fields: [], checkbox: null, disclosure: null } }) };

const withFaults = createBindingWrapper((env) => ({
  ...env,
  DB: wrapDatabase("database 00", env.DB),
  ...{ DB_01: wrapDatabase("database 01", (env as unknown as { readonly DB_01: D1Database }).DB_01) },
  KV: wrapMethods("KV", env.KV, (value) => (typeof value === "string" ? "wrong data" : value === null ? null : {})),
  LOG_TILES: wrapMethods("R2", env.LOG_TILES as R2Bucket, falsifyTile),
  ANCHOR_QUEUE: wrapQueue("anchor queue", env.ANCHOR_QUEUE),
  JOB_QUEUE: wrapQueue("job queue", env.JOB_QUEUE),
  AUDIT_LOG: wrapObjects("AuditLog", env.AUDIT_LOG as never),
  LEDGER_LOG: wrapObjects("LedgerLog", env.LEDGER_LOG as never),
  EVENT_SEQUENCE: wrapObjects("EventSequence", env.EVENT_SEQUENCE as never),
  DELIVERY_QUEUE: wrapObjects("DeliveryQueue", env.DELIVERY_QUEUE as never),
  DESTINATION_HOST: wrapObjects("DestinationHost", env.DESTINATION_HOST as never),
  RATE_LIMITER: wrapObjects("RateLimiter", env.RATE_LIMITER as never),
  INTAKE_JOURNAL: wrapObjects("IntakeJournal", env.INTAKE_JOURNAL as never),
  AI: wrapMethods("model", model, () => ({ response: "wrong data" })) as never,
}));

const dependencyByHost: Readonly<Record<string, Dependency>> = {
  "mail.example.com": "mail",
  "dns-one.example.com": "DNS",
  "dns-two.example.com": "DNS",
  "api.stripe.com": "payment provider",
};

const privateAddress = (): Response =>
  Response.json({ Status: 0, Answer: [{ name: "hooks.example.com", type: 1, TTL: 60, data: "10.0.0.1" }] });

let runner = "";
const originalFetch = globalThis.fetch;

/** Sends requests for other machines to the server in other-machines.ts instead. The first path segment is the original host. */
globalThis.fetch = ((input: RequestInfo | URL, init?: RequestInit) => {
  const request = new Request(input, init);
  const url = new URL(request.url);
  const dependency = dependencyByHost[url.host] ?? "receivers";
  const redirected = new Request(`${runner}/${url.host}${url.pathname}${url.search}`, request);
  return makeCall<Response>(
    dependency,
    () => originalFetch(redirected),
    (response) => {
      void response.body?.cancel();
      return dependency === "DNS" ? privateAddress() : new Response("wrong data");
    },
    request.signal,
  );
}) as typeof fetch;

const withRunner = (env: Env): Env => {
  runner = (env as unknown as { readonly CHAOS_RUNNER: string }).CHAOS_RUNNER;
  return withFaults(env);
};

export const AuditLog = wrapClass(service.AuditLog, withRunner);
export const EventSequence = wrapClass(service.EventSequence, withRunner);
export const IntakeJournal = wrapClass(service.IntakeJournal, withRunner);
export const DeliveryQueue = wrapClass(service.DeliveryQueue, withRunner);
export const DestinationHost = wrapClass(service.DestinationHost, withRunner);
export const LedgerLog = wrapClass(service.LedgerLog, withRunner);
export const RateLimiter = wrapClass(service.RateLimiter, withRunner);

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    if (new URL(request.url).pathname !== "/chaos/faults") return worker.fetch(request, withRunner(env), ctx);
    failing = (await request.json()) as readonly FailingCall[];
    return Response.json({ failing });
  },
  scheduled: (controller: ScheduledController, env: Env) => worker.scheduled(controller, withFaults(env)),
  queue: (batch: MessageBatch, env: Env) => worker.queue(batch, withFaults(env)),
} satisfies ExportedHandler<Env>;
