// Tests the npm package as developers use it. The package is packed and installed into an empty folder, and every block in
// docs/guides/kit.md is run as printed against a local service.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { verifySignature } from "../../core/webhooks/verify-signature.ts";
import { buildKit } from "../../kit/build.ts";
import { consentRequest } from "../../scripts/bench/submission.ts";
import { signInToOrigin } from "../support/local-session.ts";
import { startLocalService, type LocalService } from "../support/local-service.ts";

const text = readFileSync("docs/guides/kit.md", "utf8");
const extractBlocks = (language: string): string[] =>
  [...text.matchAll(/```([a-z]*)\n([\s\S]*?)```/g)].flatMap(([, blockLanguage, block]) =>
    blockLanguage === language ? [block as string] : [],
  );

interface ReceivedRequest {
  readonly path: string;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}
interface Event {
  readonly id: string;
  readonly seq: number;
  readonly type: string;
}

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "svc-kit-of-a-developer-"));
const received: ReceivedRequest[] = [];
let receiver: Server;
let port = 0;
let service: LocalService;

/** Opens the receiver. If it was open before, uses the same port. */
const openReceiver = async (): Promise<void> => {
  receiver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    received.push({ path: request.url ?? "", body: Buffer.concat(parts).toString(), headers: request.headers });
    response.writeHead(204).end();
  });
  await new Promise<void>((done) => receiver.listen(port, "localhost", done));
  port = (receiver.address() as AddressInfo).port;
};
const closeReceiver = (): Promise<unknown> => {
  receiver.closeAllConnections();
  return new Promise((done) => receiver.close(done));
};

const buildEnv = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  SVC_API: service.origin,
  SVC_API_KEY: service.world.acme.keys.sandbox,
  HOOK: `http://localhost:${port}/hook`,
  ...more,
});

const inShell = async (script: string, more: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await run("bash", ["-e", "-o", "pipefail", "-c", script], { cwd: folder, env: buildEnv(more), maxBuffer: 10_000_000 })).stdout;

interface Ended {
  readonly code: number | null;
  readonly output: string;
}
const runSvc = async (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  const child = spawn("node_modules/.bin/svc", words, { cwd: folder, env: buildEnv(more) });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, output };
};
const trigger = async (type: string): Promise<Event> => JSON.parse((await runSvc(["trigger", type])).output) as Event;

/** Starts a command that runs until it is killed. `getOutput` returns its output so far. */
const startListening = (
  command: string,
): { readonly child: ChildProcess; readonly getOutput: () => string; readonly ended: Promise<number | null> } => {
  const child = spawn("bash", ["-c", `exec ${command}`], { cwd: folder, env: buildEnv(), detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (output += String(part)));
  return { child, getOutput: () => output, ended: new Promise((done) => child.on("close", done)) };
};
const end = (child: ChildProcess, signal: NodeJS.Signals): void => {
  process.kill(-(child.pid as number), signal);
};

/** Returns the events that arrived at one path. `svc listen` forwards events to /hook, and the service delivers them to /endpoint. */
const listEvents = (path = "/hook"): Event[] => received.filter((one) => one.path === path).map(({ body }) => JSON.parse(body) as Event);
const extractSecret = (output: string): string => /whsec_\S+/.exec(output)?.[0] as string;

beforeAll(async () => {
  await openReceiver();
  service = await startLocalService({ DEV_FETCH_ALLOW: `localhost:${port}` });
  const built = join(folder, "built");
  await buildKit(built);
  await run("npm", ["pack", "--loglevel=error", built], { cwd: folder });
  rmSync(built, { recursive: true });
});
afterAll(async () => {
  await closeReceiver();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

const [install = "", triggers = "", clockBlock = "", eventsBlock = "", verifyHelp = ""] = extractBlocks("sh");
const [listenBlock = "", followBlock = ""] = extractBlocks("console");
const [clientBlock = "", signatureBlock = ""] = extractBlocks("js");

test("covers every block of the guide", () => {
  expect([extractBlocks("sh").length, extractBlocks("console").length, extractBlocks("js").length]).toEqual([5, 2, 2]);
});

describe("the package", () => {
  test("installs into an empty folder without dependencies, and its command prints its help", async () => {
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
    const output = await inShell(install, { KIT: "./svc-1.0.0.tgz", npm_config_offline: "true" });
    expect(output).toContain("svc listen --forward-to");
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as { packages: Record<string, unknown> };
    expect(Object.keys(lock.packages)).toEqual(["", "node_modules/svc"]);
    expect(await inShell(verifyHelp)).toContain("Usage: svc-verify");
  });

  test("types requests and responses without other packages", async () => {
    const right = `import { createSvc, pagesOf, type Share, type ShareRevokedEvent } from "svc/client";
import { verifySignature } from "svc/verify-signature";
const svc = createSvc({ baseUrl: "https://api.example.com", apiKey: "sk_test_x" });
const answer = await svc.readShare({ path: { share_id: "shr_x" } });
if (answer.error === undefined) { const status: string = answer.data.status; console.log(status); }
else { const code: string = answer.error.code; console.log(code); }
for await (const page of pagesOf(svc, "listEvents", { cursor: 0 })) if (page.error === undefined) console.log(page.data.head);
export const known: boolean = verifySignature("", null, "", 0);
export const describe = (event: ShareRevokedEvent, share: Share): string => event.share_id + share.purpose;
`;
    writeFileSync(join(folder, "right.ts"), right);
    // Each line must cause one type error: it reads `data` before checking for an error, omits a path parameter, uses an unknown event
    // type, or uses an unknown list.
    const wrong = [
      "console.log(answer.data.status);",
      "await svc.readShare({});",
      'await svc.triggerSandboxEvent({ body: { type: "share.eaten" } });',
      'pagesOf(svc, "listNothing");',
    ];
    writeFileSync(join(folder, "wrong.ts"), [right.trimEnd(), ...wrong, ""].join("\n"));
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false", "--noEmit"];
    const lib = ["--target", "es2022", "--lib", "es2022,dom,dom.iterable,dom.asynciterable"];
    /** Type-checks both files in one run. Returns the positions of the errors. */
    const listErrors = async (how: readonly string[]): Promise<string[]> => {
      const args = ["--ignoreConfig", "right.ts", "wrong.ts", ...strict, ...lib, ...how];
      const keepOutput = ({ stdout }: { stdout: string }) => ({ stdout });
      const { stdout } = await run(resolve("node_modules/.bin/tsc"), args, { cwd: folder }).catch(keepOutput);
      return [...stdout.matchAll(/^(\S+\(\d+),/gm)].map(([, at]) => `${at})`);
    };
    const first = right.split("\n").length;
    for (const how of [
      ["--module", "esnext", "--moduleResolution", "bundler"],
      ["--module", "nodenext", "--moduleResolution", "nodenext"],
    ]) {
      expect(await listErrors(how)).toEqual(wrong.map((_, at) => `wrong.ts(${first + at})`));
    }
  });

  test("contains exactly the published files", async () => {
    const { stdout } = await run("tar", ["-tzf", "svc-1.0.0.tgz"], { cwd: folder });
    const names = ["client.mjs", "client.d.ts", "api.d.ts", "svc.mjs", "svc-verify.mjs", "verify-signature.mjs", "verify-signature.d.ts"];
    expect(stdout.trim().split("\n").sort()).toEqual(
      [...names, "LICENSE", "README.md", "package.json"].map((name) => `package/${name}`).sort(),
    );
  });
});

describe("svc listen and svc trigger", () => {
  test("forward triggered events to the receiver, signed with a secret that stays the same in the next run", async () => {
    received.length = 0;
    const first = startListening(listenBlock.trim());
    await vi.waitFor(() => expect(first.getOutput()).toContain("Signing secret"), { timeout: 20_000 });
    const printed = await inShell(triggers);
    const triggered = [...printed.matchAll(/"id": "([^"]+)"/g)].map(([, id]) => id);
    await vi.waitFor(() => expect(listEvents().map(({ id }) => id)).toEqual(expect.arrayContaining(triggered)), { timeout: 30_000 });
    end(first.child, "SIGINT");
    await first.ended; // waits only for npx, which the signal kills; another test checks how the command itself ends
    expect(triggered.length).toBe(3);
    expect(new Set(listEvents().map(({ type }) => type))).toEqual(new Set(["share.created", "consumer.updated.email", "share.revoked"]));
    expect(printed).toContain("new@example.com");
    expect(listEvents().map(({ seq }) => seq)).toEqual(listEvents().map((_, at) => (listEvents()[0] as Event).seq + at));
    const secret = extractSecret(first.getOutput());
    for (const { body, headers } of received) {
      expect(verifySignature(body, headers["svc-signature"] as string, secret, Date.now() / 1_000)).toBe(true);
    }
    expect(first.getOutput()).not.toContain(service.world.acme.keys.sandbox);
    expect(statSync(join(folder, ".svc/listen-sandbox.json")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, ".svc/.gitignore"), "utf8")).toBe("*\n");
    expect(readFileSync(join(folder, ".svc/listen-sandbox.json"), "utf8")).not.toContain("sk_test_");

    const repeated = await runSvc(["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"]);
    expect(repeated.code).toBe(0);
    expect(extractSecret(repeated.output)).toBe(secret);
  });

  test("forward the same body and headers that an endpoint gets, except for headers that differ between attempts", async () => {
    const { origin, world } = service;
    const cookie = await signInToOrigin(origin, world.ownerEmail);
    const url = `http://localhost:${port}/endpoint`;
    const registered = await fetch(`${origin}/v1/webhooks`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json" },
      body: JSON.stringify({ url, environment: "sandbox" }),
    });
    const { secret } = ((await registered.json()) as { data: { secret: string } }).data;
    received.length = 0;
    const { id } = await trigger("consumer.updated.email");
    await runSvc(["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"]);
    const findReceived = (path: string): ReceivedRequest | undefined =>
      received.find((one) => one.path === path && one.headers["svc-event-id"] === id);
    await vi.waitFor(() => expect(findReceived("/endpoint")).toBeDefined(), { timeout: 30_000 });
    const [pushed, forwarded] = [findReceived("/endpoint") as ReceivedRequest, findReceived("/hook") as ReceivedRequest];
    expect(forwarded.body).toBe(pushed.body);
    const perAttempt = ["svc-signature", "svc-delivery-id", "webhook-timestamp", "webhook-signature"];
    const ours = /^(?:svc-|webhook-|user-agent$|content-type$)/; // the transport adds the other headers
    const getComparableHeaders = ({ headers }: ReceivedRequest): object =>
      Object.fromEntries(
        Object.entries(headers)
          .filter(([name]) => ours.test(name))
          .map(([name, value]) => [name, perAttempt.includes(name) ? "" : value]),
      );
    expect(Object.keys(getComparableHeaders(pushed)).length).toBe(10);
    expect(getComparableHeaders(forwarded)).toEqual(getComparableHeaders(pushed));
    expect(verifySignature(pushed.body, pushed.headers["svc-signature"] as string, secret, Date.now() / 1_000)).toBe(true);
    expect(pushed.headers["svc-delivery-id"]).toMatch(/^dlv_/);
    expect(forwarded.headers["svc-delivery-id"]).toMatch(/^dlv_local_/);
  });

  test("skip no event and keep the order when the receiver and the command are killed between events", async () => {
    received.length = 0;
    const listen = `node_modules/.bin/svc listen --forward-to http://localhost:${port}/hook`;
    const first = startListening(listen);
    await vi.waitFor(() => expect(first.getOutput()).toContain("Signing secret"), { timeout: 20_000 });
    const sent = [await trigger("share.created")];
    await vi.waitFor(() => expect(listEvents().length).toBe(1), { timeout: 20_000 });
    await closeReceiver();
    sent.push(await trigger("share.created"), await trigger("share.created"));
    await vi.waitFor(() => expect(first.getOutput()).toContain("no response, trying again"), { timeout: 20_000 });
    end(first.child, "SIGKILL");
    await first.ended;
    const second = startListening(listen);
    await vi.waitFor(() => expect(second.getOutput()).toContain("no response, trying again"), { timeout: 20_000 });
    await openReceiver();
    await vi.waitFor(() => expect(listEvents().length).toBeGreaterThanOrEqual(3), { timeout: 30_000 });
    end(second.child, "SIGTERM");
    expect(await second.ended).toBe(0);
    expect([...new Set(listEvents().map(({ id }) => id))]).toEqual(sent.map(({ id }) => id));
    expect(extractSecret(second.getOutput())).toBe(extractSecret(first.getOutput()));
  });

  test("read the given types from the given position, and ignore a saved position of another service", async () => {
    const listenCommand = ["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"];
    received.length = 0;
    expect((await runSvc([...listenCommand, "--from", "start"])).code).toBe(0);
    const all = listEvents().map(({ seq }) => seq);
    expect(all).toEqual(all.map((_, at) => at + 1));
    received.length = 0;
    await runSvc([...listenCommand, "--from", "2", "--types", "share.revoked"]);
    expect(new Set(listEvents().map(({ type }) => type))).toEqual(new Set(["share.revoked"]));
    received.length = 0;
    await runSvc([...listenCommand, "--from", "now"]);
    expect(listEvents()).toEqual([]);
    const { seq } = await trigger("share.created");
    const host = new URL(service.origin).hostname === "localhost" ? "127.0.0.1" : "localhost";
    const elsewhere = await runSvc(listenCommand, { SVC_API: `http://${host}:${new URL(service.origin).port}` });
    expect(elsewhere.output).toContain(`after seq ${seq} `);
    expect(listEvents()).toEqual([]);
    const { output } = await runSvc(listenCommand);
    expect(listEvents().map((event) => event.seq)).toEqual([seq]);
    expect(extractSecret(output)).toBe(extractSecret(elsewhere.output));
  });

  test("continue at the position that an earlier version saved for this service", async () => {
    const listenCommand = ["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"];
    const { seq } = await trigger("share.created");
    const kept = join(folder, ".svc/listen-sandbox.json");
    const { secret } = JSON.parse(readFileSync(kept, "utf8")) as { secret: string };
    for (const [api, expected] of [
      ["https://elsewhere.example", []],
      [service.origin, [seq]],
    ] as const) {
      received.length = 0;
      writeFileSync(kept, JSON.stringify({ api, secret, cursor: seq - 1 }));
      expect(extractSecret((await runSvc(listenCommand)).output)).toBe(secret);
      expect(listEvents().map((event) => event.seq)).toEqual(expected);
    }
  });

  test("keep a position for each account", async () => {
    const listenCommand = ["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"];
    const otherAccount = { SVC_API_KEY: service.world.other.keys.sandbox };
    await runSvc(["trigger", "share.created"], otherAccount);
    await runSvc([...listenCommand, "--from", "1"]);
    const { seq } = await trigger("share.created");
    received.length = 0;
    const { output } = await runSvc(listenCommand, otherAccount);
    expect(output).toContain("after seq 1 ");
    await runSvc(["trigger", "share.created"], otherAccount);
    await runSvc(listenCommand);
    await runSvc(listenCommand, otherAccount);
    expect(listEvents().map((event) => event.seq)).toEqual([seq, 2]);
  });

  test("run at the same time with two keys, and print the same secret", async () => {
    const listenCommand = ["listen", "--forward-to", `http://localhost:${port}/hook`, "--once"];
    const runs = await Promise.all([{}, { SVC_API_KEY: service.world.other.keys.sandbox }].map((key) => runSvc(listenCommand, key)));
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(new Set(runs.map(({ output }) => extractSecret(output))).size).toBe(1);
  });

  test("post once regardless of the response, and with --retry until it is 2xx", async () => {
    const statuses = [500, 302, 204];
    const requested: string[] = [];
    const strict = createServer((request, response) => {
      requested.push(String(request.headers["svc-attempt"]));
      request.resume();
      response.writeHead(statuses[requested.length - 1] ?? 204, { location: `http://localhost:${port}/elsewhere` }).end();
    });
    await new Promise<void>((done) => strict.listen(0, "localhost", done));
    const { seq } = await trigger("share.created");
    const listenCommand = [
      "listen",
      "--forward-to",
      `http://localhost:${(strict.address() as AddressInfo).port}/`,
      "--once",
      "--from",
      String(seq - 1),
    ];
    expect((await runSvc(listenCommand)).output).toContain("-> 500");
    expect(requested).toEqual(["1"]);
    received.length = 0;
    requested.length = 0;
    expect((await runSvc([...listenCommand, "--retry"])).output).toContain("-> 204");
    expect(requested).toEqual(["1", "2", "3"]);
    expect(listEvents("/elsewhere")).toEqual([]);
    strict.close();
  });

  test("wait for Retry-After, and for a service that is unreachable", async () => {
    const requested: number[] = [];
    const busy = createServer((_, response) => {
      requested.push(Date.now());
      const respond = (status: number, body: object): unknown =>
        response.writeHead(status, { "content-type": "application/json", "retry-after": "2" }).end(JSON.stringify(body));
      if (requested.length === 1)
        respond(429, { ok: false, error: { code: "rate_limited", message: "Too many requests." }, request_id: "req_x" });
      else respond(200, { ok: true, data: { events: [], next_cursor: 0, has_more: false, head: 0 }, request_id: "req_x" });
    });
    await new Promise<void>((done) => busy.listen(0, "localhost", done));
    const api = `http://localhost:${(busy.address() as AddressInfo).port}`;
    const { code, output } = await runSvc(["listen", "--forward-to", "http://localhost:9/", "--once", "--api", api, "--from", "start"]);
    expect(code).toBe(0);
    expect(output).toContain("Too many requests. Trying again in 2 s.");
    expect((requested[1] as number) - (requested[0] as number)).toBeGreaterThanOrEqual(1_990);
    busy.close();
    const disconnected = startListening(`node_modules/.bin/svc listen --forward-to http://localhost:9/ --api ${api}`);
    await vi.waitFor(() => expect(disconnected.getOutput()).toContain("The service did not answer. Trying again in 5 s."), {
      timeout: 20_000,
    });
    end(disconnected.child, "SIGINT");
    expect(await disconnected.ended).toBe(0);
  });
});

interface Clock {
  readonly now: string;
  readonly offset_seconds: number;
  readonly swept?: number;
}
/** Parses multi-line JSON objects that were printed one after another. */
const parseObjects = <T>(printed: string): T[] => printed.split(/(?<=^\})\n/m).flatMap((one) => (one === "" ? [] : [JSON.parse(one) as T]));
const parseLines = (printed: string): Event[] => printed.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Event]));

describe("svc clock", () => {
  const day = 86_400;
  const reset = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${service.world.acme.keys.sandbox}`, "content-type": "application/json" };
    expect((await fetch(`${service.origin}/v1/sandbox/reset`, { method: "POST", headers, body: "{}" })).status).toBe(200);
  };

  test("reads and moves the clock, and processes everything due by then", async () => {
    await reset();
    const created = JSON.parse((await runSvc(["trigger", "share.created"])).output) as { share_id: string };
    const [before, after] = parseObjects<Clock>(await inShell(clockBlock));
    expect([before?.offset_seconds, after?.offset_seconds]).toEqual([0, 6 * day]);
    expect(Date.parse((after as Clock).now) - Date.parse((before as Clock).now)).toBeGreaterThanOrEqual(6 * day * 1_000);
    const laterClock = JSON.parse((await runSvc(["clock", "+52w"])).output) as Clock;
    expect([laterClock.offset_seconds, laterClock.swept]).toEqual([(6 + 52 * 7) * day, 1]);
    const ended = parseLines((await runSvc(["events", "--types", "share.expired"])).output) as unknown as { share_id: string }[];
    expect(ended.at(-1)?.share_id).toBe(created.share_id);
    await reset();
  });

  test("moves by every unit and to a given time, but not back", async () => {
    await reset();
    const offsets: number[] = [];
    for (const advance of ["+90s", "+30m", "+12h", "+6d", "+2w"]) {
      offsets.push((JSON.parse((await runSvc(["clock", advance])).output) as Clock).offset_seconds);
    }
    expect(offsets.map((offset, at) => offset - (offsets[at - 1] ?? 0))).toEqual([90, 1_800, 43_200, 6 * day, 14 * day]);
    const moment = new Date(Date.now() + 100 * day * 1_000).toISOString();
    expect((JSON.parse((await runSvc(["clock", moment])).output) as Clock).now >= moment).toBe(true);
    const back = await runSvc(["clock", new Date().toISOString()]);
    expect([back.code, back.output.includes("invalid_request")]).toEqual([1, true]);
    await reset();
  });
});

describe("svc events", () => {
  test("prints the feed, one event per line", async () => {
    const sent = [await trigger("share.created"), await trigger("share.revoked")];
    const printed = parseLines(await inShell(eventsBlock));
    expect(printed.slice(-1)).toEqual(sent.slice(-1));
    expect(printed).toContainEqual(sent[0]);
    expect(new Set(printed.map(({ type }) => type))).toEqual(new Set(["share.created", "share.revoked"]));
    const all = parseLines((await runSvc(["events"])).output);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
    const { seq } = sent[1] as Event;
    expect(parseLines((await runSvc(["events", "--from", String(seq - 1)])).output)).toEqual([sent[1]]);
    expect(await runSvc(["events", "--from", "now"])).toEqual({ code: 0, output: "" });
    expect(parseLines(await inShell("npx svc events | head -n 1"))).toEqual(all.slice(0, 1));
  });

  test("prints new events with --follow and exits with 0 when it is stopped", async () => {
    const printed = startListening(followBlock.trim());
    const follower = startListening("node_modules/.bin/svc events --follow");
    for (const one of [printed, follower])
      await vi.waitFor(() => expect(one.getOutput()).toContain("Following test events"), { timeout: 20_000 });
    const sent = [await trigger("share.created"), await trigger("consumer.updated.phone")].at(-1) as Event;
    for (const one of [printed, follower]) await vi.waitFor(() => expect(one.getOutput()).toContain(sent.id), { timeout: 30_000 });
    end(printed.child, "SIGINT");
    end(follower.child, "SIGINT");
    await printed.ended;
    expect(await follower.ended).toBe(0);
    const [head, ...rest] = follower.getOutput().split("\n");
    expect(head).toContain("after seq");
    expect(parseLines(rest.join("\n")).at(-1)).toEqual(sent);
    expect(follower.getOutput()).not.toContain(service.world.acme.keys.sandbox);
  });
});

describe("svc verify", () => {
  test("exits with 3 when required evidence is missing and with 1 when a check fails", async () => {
    const { world, origin, runtime } = service;
    const { headers, body } = consentRequest(world.acme, "https://www.example.com", 1);
    const issued = await fetch(`${origin}/v1/consent`, { method: "POST", headers: { ...headers }, body: body as string });
    const { data } = (await issued.json()) as { data: { cert_id: string } };
    await runtime.scheduled("* * * * *");
    const pack = await vi.waitFor(
      async () => {
        const authorization = `Bearer ${world.acme.keys.live}`;
        const response = await fetch(`${origin}/v1/certs/${data.cert_id}/evidence-pack?format=zip`, { headers: { authorization } });
        expect(response.status).toBe(200);
        return Buffer.from(await response.arrayBuffer());
      },
      { timeout: 30_000, interval: 1_000 },
    );
    writeFileSync(join(folder, "evidence.zip"), pack);
    const { code, output } = await runSvc(["verify", "evidence.zip"]);
    expect([code, output.includes(data.cert_id)], output).toEqual([3, true]);
    expect((await runSvc(["verify", "evidence.zip", "--expect-fingerprint", "0".repeat(64)])).code).toBe(1);
  });
});

describe("the exit code of a command", () => {
  const listenCommand = ["listen", "--forward-to", "http://localhost:9/"];

  test("is 2 for wrong usage, with the help and without the key in the output", async () => {
    const { sandbox, live } = service.world.acme.keys;
    const wrong: [string[], Record<string, string>][] = [
      [[], {}],
      [["eat"], {}],
      [["listen"], {}],
      [["listen", "--forward-to"], {}],
      [["listen", "--forward-to", "ftp://localhost/"], {}],
      [["listen", "--forward-to", "https://hook.example.com/"], {}],
      [["listen", "--forward-to", "http://127.0.0.1.example.com/"], {}],
      [[...listenCommand, "more"], {}],
      [[...listenCommand, "--from", "yesterday"], {}],
      [[...listenCommand, "--api", "nowhere"], {}],
      [[...listenCommand, "--api-key", sandbox], {}],
      [[...listenCommand, `--key=${sandbox}`], {}],
      [listenCommand, { SVC_API_KEY: "" }],
      [listenCommand, { SVC_API_KEY: "secret" }],
      [listenCommand, { SVC_API_KEY: live }],
      [["trigger"], {}],
      [["trigger", "share.created", "share.revoked"], {}],
      [["trigger", "consumer.updated.email", "--field", "email"], {}],
      [["trigger", "share.created"], { SVC_API_KEY: live }],
      [["clock", "6d"], {}],
      [["clock", "-6d"], {}],
      [["clock", "+6y"], {}],
      [["clock", "tomorrow"], {}],
      [["clock", "+1d", "+1d"], {}],
      [["clock"], { SVC_API_KEY: live }],
      [["events", "more"], {}],
      [["events", "--forward-to", "http://localhost:9/"], {}],
      [["events", "--from", "yesterday"], {}],
      [["events"], { SVC_API_KEY: live }],
      [["verify"], {}],
      [["verify", "no-such-file.zip"], {}],
    ];
    for (const [words, more] of wrong) {
      const { code, output } = await runSvc(words, more);
      expect([code, words]).toEqual([2, words]);
      expect(output).toContain("Usage: svc");
      expect(output).not.toContain(sandbox);
      expect(output).not.toContain(live);
    }
  });

  test("is 1 when the service refuses, with the error code in the output", async () => {
    const stranger = { SVC_API_KEY: `sk_test_00${"x".repeat(43)}` };
    for (const words of [listenCommand, ["trigger", "share.created"], ["clock"], ["clock", "+1d"], ["events"], ["events", "--follow"]]) {
      const { code, output } = await runSvc(words, stranger);
      expect([code, output.includes("unauthorized")]).toEqual([1, true]);
      expect(output).not.toContain(stranger.SVC_API_KEY);
    }
    expect((await runSvc(["trigger", "share.eaten"])).output).toContain("invalid_request");
    const foreign = await runSvc(["trigger", "share.revoked", "--share", "shr_00k3v9d2m4q8x1c7b5n0t6w2h9"]);
    expect([foreign.code, foreign.output.includes("not_found")]).toEqual([1, true]);
  });

  test("is 0 for --help of every command", async () => {
    for (const words of [
      ["--help"],
      ["listen", "--help"],
      ["trigger", "--help"],
      ["clock", "--help"],
      ["events", "--help"],
      ["verify", "--help"],
    ]) {
      const { code, output } = await runSvc(words);
      expect([code, output.startsWith("Usage: svc")]).toEqual([0, true]);
    }
  });
});

describe("the client code of the guide", () => {
  test("triggers an event, reads current values and lists shares", async () => {
    writeFileSync(join(folder, "client.js"), clientBlock);
    const output = await inShell("node client.js");
    expect(output).toMatch(/^\S+@\S+\n/);
    expect(output.trim().split("\n").length).toBeGreaterThan(3);
  });

  test("checks a signature", async () => {
    writeFileSync(join(folder, "signature.js"), signatureBlock);
    const { code } = await runSvc(["listen", "--forward-to", `http://localhost:${port}/signed`, "--once", "--from", "0"]);
    expect(code).toBe(0);
    const { body, headers } = received.find(({ path }) => path === "/signed") as ReceivedRequest;
    const { secret } = JSON.parse(readFileSync(join(folder, ".svc/listen-sandbox.json"), "utf8")) as { secret: string };
    const variables = { BODY: body, HEADER: String(headers["svc-signature"]), SECRET: secret };
    expect(await inShell("node signature.js", variables)).toBe("true\n");
    expect(await inShell("node signature.js", { ...variables, BODY: `${body} ` })).toBe("false\n");
  });
});
