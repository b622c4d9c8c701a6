// Compares list, search, detail and contact check for a business with certificates in one shard and for one with certificates in twelve.
// Measures the CPU time of the whole process, which also runs the databases, and how many consecutive database calls each response waits
// for.
import { getShardId, shardOfId } from "../../core/ids.ts";
import { slowAnswerMs } from "../../core/simulated-fault.ts";
import { runQueriesInTurn, withKey, type BenchQuery, type SeededService } from "./growth-queries.ts";
import {
  bearerHeader,
  insertApiKeys,
  issueCertificate,
  origin,
  send,
  sendJson,
  startBenchService,
  startFloor,
  type Bench,
} from "./measured-service.ts";
import { consentRequest } from "./submission.ts";

const shardCounts = [1, 12];
const certificatesPerShard = 100;
const searchedPerson = 1_000_000;

const listShards = (count: number): readonly string[] => Array.from({ length: count }, (_, number) => getShardId(number));

/**
 * Issues certificates in each shard. Closes a shard so that the next certificates are issued in another one. Returns the service and the ID
 * of a certificate.
 */
const startWithCertificates = async (bench: Bench, count: number) => {
  const { acme } = bench.world;
  const start = () => startBenchService(bench, `overflow-${count}`, { extraShards: listShards(count).slice(1) });
  const authorization = `Bearer ${bench.vars.ADMIN_TOKEN}`;
  let service = await start();
  let certId = await issueCertificate(service.url, acme, searchedPerson);
  const used = new Set<string>();
  for (let at = 0; at < count; at += 1) {
    const total = (certificatesPerShard * Math.max(...shardCounts)) / count;
    for (let n = 0; n < total; n += 1) certId = await issueCertificate(service.url, acme, at * 10_000 + n);
    const shard = shardOfId(certId as Parameters<typeof shardOfId>[0]);
    used.add(shard);
    const closed = await sendJson(service.url, "POST", `/v1/admin/shards/${shard}`, { state: "closed" }, { authorization });
    if (closed.status !== 200 && count > 1) throw new Error(`bench: shard ${shard} was not closed: ${await closed.text()}`);
    if (at === count - 1) break;
    await service.runtime.dispose(); // restart, because a running isolate uses its copy of the list of shards for up to a minute
    service = await start();
  }
  if (used.size !== count) throw new Error(`bench: certificates are in ${used.size} shards instead of ${count}`);
  return { service, certId };
};

/**
 * Prints how many consecutive database calls each response waits for. Every call is delayed by 1.5 s, so the response time shows the
 * number.
 */
const measureWaits = async (all: readonly SeededService[], queries: readonly BenchQuery[]): Promise<void> => {
  for (const { url, size } of all)
    for (let number = 0; number < size; number += 1) {
      const fault = { database: getShardId(number), mode: "slow", for_ms: 600_000 };
      const set = await sendJson(url, "POST", "/dev/faults", fault);
      if (set.status !== 200) throw new Error(`bench: no fault simulated: ${await set.text()}`);
    }
  console.log(`\nconsecutive database calls             ${all.map(({ size }) => String(size).padStart(10)).join("")}   last to first`);
  for (const [name, query] of queries) {
    const waits = await Promise.all(
      all.map(async (one) => {
        const startedAt = performance.now();
        const response = await send(one.url, query(one, 0));
        if (response.status !== 200) throw new Error(`bench: ${name}: ${await response.text()}`);
        await response.arrayBuffer();
        return Math.floor((performance.now() - startedAt) / slowAnswerMs);
      }),
    );
    const ratio = ((waits.at(-1) as number) / (waits[0] as number)).toFixed(2);
    console.log(`${name.padEnd(39)}${waits.map((calls) => String(calls).padStart(10)).join("")}   ${ratio}`);
  }
};

export const measureOverflow = async (bench: Bench & { readonly rounds: number }): Promise<void> => {
  const all: SeededService[] = [];
  const certIds = new Map<number, string>();
  for (const count of shardCounts) {
    const { service, certId } = await startWithCertificates(bench, count);
    certIds.set(count, certId);
    all.push({ ...service, size: count, keys: await insertApiKeys(service.db, bench.world.acme, 400) });
  }
  const { fields } = JSON.parse(consentRequest(bench.world.acme, origin, searchedPerson).body as string) as { fields: { email: string } };
  const queries: readonly BenchQuery[] = [
    ["list, first page", withKey("/v1/certs")],
    ["list, page 5", withKey("/v1/certs?page=5")],
    ["search by email", withKey(`/v1/certs?subject_email=${encodeURIComponent(fields.email)}`)],
    ["search by purpose", withKey("/v1/certs?q=solar")],
    ["detail", withKey(({ size }) => `/v1/certs/${certIds.get(size)}`)],
    [
      "contact check",
      ({ keys }, n) => ({
        method: "POST",
        path: "/v1/contact-check",
        headers: { ...bearerHeader(keys, n), "content-type": "application/json" },
        body: JSON.stringify({ subjects: [{ email: fields.email }] }),
      }),
    ],
  ];
  console.log(`\noverflow         ${shardCounts.join(" and ")} shards, ${certificatesPerShard * Math.max(...shardCounts)} certificates`);
  await runQueriesInTurn(all, queries, bench.rounds);
  const floor = await startFloor(bench, "overflow-floor-worker", {}, { extraShards: listShards(Math.max(...shardCounts)).slice(1) });
  const floors = shardCounts.map((size) => ({ ...floor, size, keys: [] }));
  await runQueriesInTurn(floors, [["floor: SELECT 1 in each shard", ({ size }) => ({ method: "GET", path: `/${size}` })]], bench.rounds);
  await measureWaits(all, queries);
  for (const { runtime } of [floor, ...all]) await runtime.dispose();
};
