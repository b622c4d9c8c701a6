// A closed-loop load generator. Each of a fixed number of connections sends its next request once the previous response has arrived. An
// open loop on the same machine as the server would measure the backlog instead of the server.
import { Agent, request as httpRequest } from "node:http";

export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Called with the response body. */
  readonly took?: (text: string) => void;
}

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Response times in milliseconds, sorted in ascending order. */
  readonly latencies: readonly number[];
  readonly statuses: Readonly<Record<number, number>>;
}

const send = (agent: Agent, origin: URL, request: Request): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        agent,
        host: origin.hostname,
        port: origin.port,
        method: request.method,
        path: request.path,
        headers: { ...request.headers, ...(request.body !== undefined && { "content-length": Buffer.byteLength(request.body) }) },
      },
      (response) => {
        const parts: Buffer[] = [];
        if (request.took === undefined) response.resume();
        else response.on("data", (part: Buffer) => parts.push(part));
        response.on("end", () => {
          request.took?.(Buffer.concat(parts).toString());
          resolve(response.statusCode ?? 0);
        });
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(request.body);
  });

/** Runs `connections` loops for `seconds`, or until `next(n)` returns no request. A failed connection counts as status 0. */
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
      const request = next(sent++);
      if (request === null) return;
      const startedAt = performance.now();
      const status = await send(agent, origin, request).catch(() => 0);
      latencies.push(performance.now() - startedAt);
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
