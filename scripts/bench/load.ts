// A closed-loop load: a fixed number of connections, each sending its next request when its last was answered. Closed,
// because an open loop on a machine that is also the server measures the backlog and not the server.
import { Agent, request } from "node:http";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Takes the body of the answer. */
  readonly took?: (text: string) => void;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
  readonly statuses: Readonly<Record<number, number>>;
}

const send = (agent: Agent, origin: URL, asked: Request): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        agent,
        host: origin.hostname,
        port: origin.port,
        method: asked.method,
        path: asked.path,
        headers: { ...asked.headers, ...(asked.body !== undefined && { "content-length": Buffer.byteLength(asked.body) }) },
      },
      (response) => {
        const parts: Buffer[] = [];
        if (asked.took === undefined) response.resume();
        else response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          asked.took?.(Buffer.concat(parts).toString());
          resolve(response.statusCode ?? 0);
        });
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(asked.body);
  });

/** Runs `connections` loops for `seconds`, or until `next`, which makes the n-th request, makes none. A broken connection counts as status 0. */
export const runLoad = async (
  url: string,
  next: (n: number) => Request | null,
  options: { readonly seconds: number; readonly connections: number },
): Promise<LoadResult> => {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  const origin = new URL(url);
  const latencies: number[] = [];
  const statuses: Record<number, number> = {};
  let sent = 0;
  const start = performance.now();
  const until = start + options.seconds * 1_000;
  const loop = async (): Promise<void> => {
    do {
      const asked = next(sent++);
      if (asked === null) return;
      const began = performance.now();
      const status = await send(agent, origin, asked).catch(() => 0);
      latencies.push(performance.now() - began);
      statuses[status] = (statuses[status] ?? 0) + 1;
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: options.connections }, loop));
  const seconds = (performance.now() - start) / 1_000;
  agent.destroy();
  return { requests: latencies.length, seconds, latencies: latencies.sort((a, b) => a - b), statuses };
};

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
