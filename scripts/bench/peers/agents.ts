// Compares the agent server with the reference server of the Model Context Protocol, which checks no token and stores nothing.
import { clientAddressHeader, pick, startBenchService, type Bench } from "../measured-service.ts";
import type { Request } from "../load.ts";
import { getCpuMs, getTreeCpuMs } from "../runtime-process.ts";
import { createSeries, printRounds, runRounds, type Slices } from "../series.ts";
import { createAssistants } from "../shares.ts";
import { findFreePort, startProgram } from "./processes.ts";

const people = 50; // the calls are spread over 50 people, because each token may make only a limited number of calls a minute

const buildCall = (n: number, method: string, params: object, headers: Readonly<Record<string, string>>): Request => ({
  method: "POST",
  path: "/mcp",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2025-06-18",
    ...headers,
  },
  body: JSON.stringify({ jsonrpc: "2.0", id: n + 1, method, params }),
});

const openSession = async (url: string): Promise<string> => {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1.0.0" } };
  const { path, headers, body } = buildCall(0, "initialize", params, {});
  const response = await fetch(`${url}${path}`, { method: "POST", headers: { ...headers }, body: body as string });
  const session = response.headers.get("mcp-session-id");
  if (session === null) throw new Error(`peers: no session: ${response.status}`);
  await response.text();
  const notification = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
  await fetch(`${url}${path}`, { method: "POST", headers: { ...headers, "mcp-session-id": session }, body: notification });
  return session;
};

export const compareAgents = async (bench: Bench & { readonly slices: Slices }, folder: string): Promise<void> => {
  const service = await startBenchService(bench, "peers-agents");
  const assistants = await createAssistants(service, bench.world.acme, people);
  const port = await findFreePort();
  const program = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
  const server = await startProgram(folder, [program, "streamableHttp"], { PORT: String(port) }, /listening/i);
  const url = `http://127.0.0.1:${port}`;
  const session = { "mcp-session-id": await openSession(url) };
  const svc = { url: service.url, getCpuMs: () => getCpuMs(service.pid) };
  const peer = { url, getCpuMs: () => getTreeCpuMs([server.pid]) };
  const buildRequest = (n: number, method: string, params: object): Request =>
    buildCall(n, method, params, { ...clientAddressHeader(n), authorization: `Bearer ${pick(assistants, n).token}` });
  const all = [
    createSeries("svc tools/list", null, svc, (n) => buildRequest(n, "tools/list", {})),
    createSeries("server-everything tools/list", "svc tools/list", peer, (n) => buildCall(n, "tools/list", {}, session)),
    createSeries("svc svc_get_share", null, svc, (n) =>
      buildRequest(n, "tools/call", { name: "svc_get_share", arguments: { share_id: pick(assistants, n).shareId } }),
    ),
    createSeries("server-everything echo", "svc svc_get_share", peer, (n) =>
      buildCall(n, "tools/call", { name: "echo", arguments: { message: "hello" } }, session),
    ),
  ];
  console.log(`\nagent server, ${bench.slices.connections} connections, ${bench.slices.rounds} rounds of ${bench.slices.seconds} s each`);
  await runRounds(all, bench.slices);
  printRounds(all);
  await server.kill();
  await service.runtime.dispose();
};
