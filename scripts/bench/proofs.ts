// Measures proofs: appending to a growing log, submitting a backlog of statements, issuing certificates while the ledger fails (compared
// with normal operation), and verifying an evidence pack.
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { encodeUtf8 } from "../../core/bytes.ts";
import { sha256Hex } from "../../core/hash.ts";
import { listLeaves } from "../../core/ledger/receipt-batch.ts";
import { formatAnchorStatement } from "../../core/ledger/statement.ts";
import { encodeEntryBundle } from "../../core/ledger/tiles.ts";
import { trustOf } from "../../verifier/trust.ts";
import { defaultVerificationOptions, verifyPack } from "../../verifier/verify-pack.ts";
import { listenLocally } from "../listen.ts";
import type { D1Like } from "../local-databases.ts";
import type { Runtime } from "../local-runtime.ts";
import { noteKeyPair } from "../note-secret.ts";
import { startStandaloneLedger, type StandaloneLedger } from "../standalone-ledger.ts";
import { runLoad, percentile } from "./load.ts";
import type { Slices } from "./series.ts";
import { capturePolicies, issueCertificate, origin as pageOrigin, startBenchService, type Bench } from "./measured-service.ts";
import { consentRequest } from "./submission.ts";

const origin = "ledger.bench.test/ledger/2026h2";
const keys = noteKeyPair(origin, new Uint8Array(32).fill(31));
const token = "token-of-the-benchmark-not-a-secret";
const perBatch = 256;
const measuredEntries = 5_120; // 20 batches

const buildStatement = (at: number): string =>
  formatAnchorStatement({
    event: "certificate.issued",
    entityId: `cc_00${String(at).padStart(24, "0")}`,
    fingerprint: sha256Hex(String(at)),
    originDomain: "www.example.com",
    at: 1_772_600_767_089 + at,
  });

/** For each of `sizes`, grows the log to that many entries and then measures how many entries per second it accepts. */
const measureLog = async (ledger: StandaloneLedger, sizes: readonly number[]): Promise<void> => {
  let size = 0;
  const grow = async (to: number): Promise<number> => {
    const startedAt = performance.now();
    const from = size;
    for (; size < to; size += perBatch) {
      const body = encodeEntryBundle(Array.from({ length: perBatch }, (_, one) => encodeUtf8(buildStatement(size + one))));
      const response = await fetch(`${ledger.base}/add-batch`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
      if (response.status !== 200) throw new Error(`bench: add-batch ${response.status}`);
      await response.arrayBuffer();
    }
    return (size - from) / ((performance.now() - startedAt) / 1_000);
  };
  for (const target of sizes) {
    await grow(target);
    const rate = await grow(size + measuredEntries);
    console.log(
      `log append       ${rate.toFixed(0).padStart(6)} entries/s in batches of ${perBatch}, from ${size - measuredEntries} entries on`,
    );
  }
};

type ProxyBehavior = "healthy" | "dead" | "hanging" | "lying" | "resetting";
const proxyBehaviors: readonly ProxyBehavior[] = ["healthy", "dead", "hanging", "lying", "resetting"];

/** A proxy between the service and the ledger that simulates failures. */
class LedgerProxy {
  behavior: ProxyBehavior = "healthy";
  readonly #server: Server;
  readonly #target: URL;

  constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => this.#respond(request, response));
  }

  async listen(): Promise<string> {
    return `http://${await listenLocally(this.#server)}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #respond(request: IncomingMessage, answer: ServerResponse): void {
    if (this.behavior === "hanging") return;
    if (this.behavior === "resetting" || this.behavior === "dead") {
      request.socket.destroy(); // the service treats this like a closed port
      return;
    }
    const onward = httpRequest(
      { host: this.#target.hostname, port: this.#target.port, method: request.method, path: request.url, headers: request.headers },
      (response) => {
        if (this.behavior === "lying" && request.url?.endsWith("/add-batch")) {
          response.resume();
          answer.writeHead(200, { "content-type": "application/json" }).end('{"indices":["0"]}');
          return;
        }
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    onward.on("error", () => request.socket.destroy());
    request.pipe(onward);
  }
}

const countRows = async (db: D1Like, sql: string): Promise<number> => Number((await db.prepare(sql).first<{ n: number }>())?.n);

/** Counts the statements that are not anchored yet. */
const waitingSql = `SELECT (SELECT COUNT(*) FROM anchors WHERE status <> 'anchored')
  + (SELECT COUNT(*) FROM changes c WHERE c.statement IS NOT NULL AND NOT EXISTS (SELECT 1 FROM anchors a WHERE a.ord = c.ord)
     AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.ord >= c.ord AND r.first_ord <= c.ord)) AS n`;

const listReceipts = async (db: D1Like) =>
  (await db.prepare("SELECT ord, leaves FROM receipts").bind().all<{ ord: number; leaves: string }>()).results;

/**
 * Measures how many statements per second the cron job alone submits to the ledger. Also prints whether each statement has exactly one
 * entry. If `judgesOrder` is true, also prints how many entries are not in the order of their statements.
 */
const drainBacklog = async (service: Runtime, db: D1Like, label: string, judgesOrder: boolean): Promise<void> => {
  await db.prepare("UPDATE anchors SET next_at = 0 WHERE status <> 'anchored'").bind().run();
  const backlog = await countRows(db, waitingSql);
  const known = new Set((await listReceipts(db)).map(({ ord }) => ord));
  const startedAt = performance.now();
  while ((await countRows(db, waitingSql)) > 0) {
    if (performance.now() - startedAt > 120_000) throw new Error("bench: the backlog does not drain");
    await service.scheduled("* * * * *");
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const places = (await listReceipts(db))
    .filter(({ ord }) => !known.has(ord))
    .flatMap((row) => listLeaves(row))
    .sort((a, b) => a.ord - b.ord)
    .map(({ index }) => Number(index));
  const outOfOrder = places.filter((place, at) => at > 0 && place < (places[at - 1] as number)).length;
  // The ledger can accept entries even if its responses are wrong or do not arrive. Such entries keep their positions when the service
  // submits their statements again, which looks like a wrong order. The order is therefore reported only if the ledger never failed.
  console.log(
    `anchor drain     ${(backlog / seconds).toFixed(0).padStart(6)} statements/s, ${backlog} ${label}; ${new Set(places).size} positions for ${places.length} rows${judgesOrder ? `, ${outOfOrder} out of order` : ""}`,
  );
};

const fillBacklog = async (db: D1Like, backlog: number): Promise<void> => {
  for (let from = 0; from < backlog; from += 50) {
    await db.batch(
      Array.from({ length: Math.min(50, backlog - from) }, (_, one) => {
        const statement = buildStatement(10_000_000 + from + one);
        const entityId = `cc_bench${from + one}`;
        return [
          db
            .prepare("INSERT INTO changes (id, type, entity_type, entity_id, at) VALUES (?, 'certificate.issued', 'certificate', ?, 0)")
            .bind(`bench-${from + one}`, entityId),
          // Schedules the next attempt far in the future, as after failures, so that nothing is sent before the measurement begins.
          db
            .prepare(
              `INSERT INTO anchors (ord, ledger_id, kind, entity_id, event, statement, attempts, next_at, created_at)
               VALUES ((SELECT MAX(ord) FROM changes), ?, 'event', ?, 'certificate.issued', ?, 1, 4000000000000000, 0)`,
            )
            .bind(`tlog:${origin}`, entityId, statement),
        ];
      }).flat(),
    );
  }
};

const measureOutages = async (service: Runtime, db: D1Like, between: LedgerProxy, options: Bench & Slices): Promise<void> => {
  const { acme } = options.world;
  const latencies = new Map<ProxyBehavior, number[]>(proxyBehaviors.map((behaviour) => [behaviour, []]));
  let faults = 0;
  let from = 0;
  for (let round = -1; round < options.rounds; round += 1) {
    for (const behaviour of proxyBehaviors) {
      between.behavior = behaviour;
      await db.prepare("UPDATE ledger_state SET failures = 0, blocked_until = 0").bind().run();
      const measured = await runLoad(service.url, (n) => consentRequest(acme, pageOrigin, from + n), options);
      from += 100_000;
      if (round < 0) continue; // ignore the warm-up round, whose number is negative
      faults += measured.requests - (measured.statuses[201] ?? 0);
      latencies.get(behaviour)?.push(...measured.latencies);
    }
  }
  between.behavior = "healthy";
  const p99 = (behaviour: ProxyBehavior): number =>
    percentile(
      (latencies.get(behaviour) ?? []).sort((a, b) => a - b),
      0.99,
    );
  const healthy = p99("healthy");
  for (const behaviour of proxyBehaviors) {
    const all = latencies.get(behaviour) ?? [];
    console.log(
      `consent          ledger ${behaviour.padEnd(10)} p50 ${percentile(all, 0.5).toFixed(1).padStart(6)} ms  p99 ${p99(behaviour).toFixed(1).padStart(6)} ms  ${(p99(behaviour) / healthy).toFixed(2)}x of healthy  (${all.length} requests)`,
    );
  }
  console.log(`                 ${faults} without status 201`);
};

const measureVerifier = async (service: Runtime, apiKey: string, certId: string): Promise<void> => {
  const pack = await fetch(`${service.url}/v1/certs/${certId}/evidence-pack?format=zip`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const zip = new Uint8Array(await pack.arrayBuffer());
  const trust = trustOf(await (await fetch(`${service.url}/.well-known/svc-trust.json`)).json());
  const times: number[] = [];
  let verdict = "";
  for (let round = 0; round < 50; round += 1) {
    const startedAt = performance.now();
    verdict = (await verifyPack(zip, { ...defaultVerificationOptions, trust })).verdict;
    times.push(performance.now() - startedAt);
  }
  const [first = 0] = times;
  const sorted = times.toSorted((a, b) => a - b);
  console.log(
    `verifier         ${percentile(sorted, 0.5).toFixed(1).padStart(6)} ms a pack of ${zip.length} bytes (first ${first.toFixed(1)}, p99 ${percentile(sorted, 0.99).toFixed(1)}): ${verdict}`,
  );
};

export const measureProofs = async (options: Bench & Slices & { readonly logSizes: readonly number[] }): Promise<void> => {
  const growing = await startStandaloneLedger({ origin, secret: keys.secret, token, folder: join(options.state, "log") });
  await measureLog(growing, options.logSizes);
  await growing.dispose();

  const ledger = await startStandaloneLedger({ origin, secret: keys.secret, token, folder: join(options.state, "ledger") });
  const between = new LedgerProxy(ledger.base);
  const address = await between.listen();
  const { acme } = options.world;
  const vars = {
    ...options.vars,
    LEDGER_ORIGIN: origin,
    LEDGER_URL: `${address}${origin.slice(origin.indexOf("/"))}`,
    LEDGER_VKEYS: keys.vkey,
    LEDGER_WRITE_TOKEN: token,
  };
  const { runtime: service, url, db } = await startBenchService(options, "proofs", { vars });
  await capturePolicies(db);
  const certId = await issueCertificate(url, acme, 9_000_000);
  await service.scheduled("* * * * *");
  await service.scheduled("*/15 * * * *");
  await measureVerifier(service, acme.keys.live, certId);
  await fillBacklog(db, 5_000);
  await drainBacklog(service, db, "that waited", true);
  await measureOutages(service, db, between, options);
  await db.prepare("UPDATE ledger_state SET failures = 0, blocked_until = 0").bind().run();
  await drainBacklog(service, db, "left behind by the outages", false);
  await service.dispose();
  between.close();
  await ledger.dispose();
};
