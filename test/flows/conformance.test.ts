// Runs the official Model Context Protocol conformance suite against a local service. For each revision, a file lists the checks that the
// server does not pass, and why. The test fails if any other check fails, or if a listed check passes.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveConnection, createToken, signInToService } from "../support/assistants.ts";
import { findFreePort, startServiceForFile } from "../support/local-service.ts";

const service = await startServiceForFile({ LIMIT_AGENT_TOKEN: "100000/60", DEV_RATE_SCALE: "1000" });
let tokenProxy: Server;
let cookie = "";
let results = "";

/** Starts a proxy that adds the token, because the suite cannot send it. The proxy changes nothing else, not even the Host header. */
const startTokenProxy = (token: string): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((incoming, outgoing) => {
      const { method, url, rawHeaders } = incoming;
      const onward = request(new URL(url ?? "/", service.origin), { method, headers: [...rawHeaders, "Authorization", `Bearer ${token}`] });
      onward.on("response", (response) => {
        outgoing.writeHead(response.statusCode ?? 500, response.rawHeaders);
        response.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    });
    server.listen(0, "127.0.0.1", () => resolve(server));
  });

beforeAll(async () => {
  cookie = await signInToService(service, "consumer", service.world.consumerEmail);
  tokenProxy = await startTokenProxy(await createToken(service, "consumer", cookie));
  results = await mkdtemp(join(tmpdir(), "svc-conformance-"));
});
afterAll(async () => {
  tokenProxy.close();
  await rm(results, { recursive: true, force: true });
});

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"));

interface Run {
  readonly status: number | null;
  readonly output: string;
}

const runSuite = (args: readonly string[], onText: (text: string) => void = () => undefined): Promise<Run> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...args]);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        onText(output);
      });
    child.on("close", (status) => resolve({ status, output: stripVTControlCharacters(output) }));
  });

const getBaselinePath = (revision: string): string => `test/flows/conformance/${revision}.yml`;
const listPassed = (output: string): string[] =>
  [...output.matchAll(/^✓ ([\w-]+): [1-9]\d* passed, 0 failed/gm)].map(([, name]) => name as string);

/** Returns the parts of the suite's summary that report unexpected failures and checks that no longer fail. */
const listUnexpected = (output: string): string[] =>
  [...output.slice(output.indexOf("=== SUMMARY ===")).matchAll(/^(?:Unexpected|Stale).*(?:\n {2}\S.*)*/gm)].map(([message]) => message);

/** Scenarios that a server with only tools can pass. All other scenarios need the tools, prompts and resources of a test fixture. */
const shown: Readonly<Record<string, readonly string[]>> = {
  "2025-11-25": ["server-initialize", "ping", "tools-list", "tools-call-error", "dns-rebinding-protection"],
  "2026-07-28": ["tools-list", "tools-call-error", "dns-rebinding-protection", "http-header-validation"],
};

describe.each(Object.entries(shown))("the conformance suite of %s", (revision, wanted) => {
  test("reports only failures that the file explains", async () => {
    const { port } = tokenProxy.address() as AddressInfo;
    const where = ["--url", `http://localhost:${port}/mcp`, "-o", join(results, revision)];
    const { status, output } = await runSuite([
      "server",
      ...where,
      ...["--suite", "all", "--spec-version", revision, "--expected-failures", getBaselinePath(revision)],
    ]);
    expect({ status, unexpected: listUnexpected(output) }).toEqual({ status: 0, unexpected: [] });
    expect(listPassed(output)).toEqual(expect.arrayContaining([...wanted]));
  });

  test("has a reason for each line of the file, and no line that covers a whole scenario", () => {
    const lines = readFileSync(getBaselinePath(revision), "utf8")
      .split("\n")
      .filter((line) => line.trimStart().startsWith("- "));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => !/^ {2}- [\w-]+:[\w-]+ # \S.{10,}$/.test(line))).toEqual([]);
  });
});

describe("the conformance suite for authorization servers", () => {
  test("accepts the metadata and exchanges a code for a token", async () => {
    const port = await findFreePort();
    const redirect_uris = [`http://127.0.0.1:${port}/callback`];
    const registered = await fetch(`${service.origin}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_name: "Conformance", redirect_uris }),
    });
    const { client_id } = (await registered.json()) as { client_id: string };
    let isOpened = false;
    const where = ["--url", service.origin, "--resource", `${service.origin}/mcp`, "--client-id", client_id, "-p", String(port)];
    const { status, output } = await runSuite(["authorization", ...where, "-o", join(results, "authorization")], (text) => {
      const address = /https?:\/\/\S+\/oauth\/authorize\?\S+/.exec(text)?.[0];
      if (isOpened || address === undefined) return;
      isOpened = true; // opens the page once, as the person's browser would
      void approveConnection(cookie, new URL(address)).then(fetch);
    });
    expect({ status, output: status === 0 ? "" : output.slice(-3_000) }).toEqual({ status: 0, output: "" });
    expect(isOpened).toBe(true);
    expect(listPassed(output)).toEqual(["authorization-server-metadata-endpoint", "authorization-code-grant"]);
  });
});
