// Compares svc with c15t on Node and PostgreSQL: recording and reading a consent. Both record the same content.
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Request } from "../load.ts";
import {
  capturePolicies,
  clientAddressHeader,
  issueCertificate,
  origin,
  pick,
  startBenchService,
  type Bench,
} from "../measured-service.ts";
import { getCpuMs, getTreeCpuMs } from "../runtime-process.ts";
import { createSeries, printRounds, runRounds, type Slices } from "../series.ts";
import { consentRequest } from "../submission.ts";
import type { Postgres } from "./postgres.ts";
import { findFreePort, startProgram } from "./processes.ts";

const filledRows = 100_000;
const subjectAlphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const createSubjectId = (): string =>
  `sub_${Array.from(randomBytes(24), (byte) => subjectAlphabet[byte % subjectAlphabet.length]).join("")}`;

/** Converts an svc submission into a c15t consent. Content without a matching c15t field becomes metadata. */
const toC15tRequest = ({ headers, body }: Request, subjectId: string): Request => {
  const { client_id: _, widget: __, ...metadata } = JSON.parse(body as string) as Record<string, unknown>;
  const consent = {
    type: "marketing_communications",
    subjectId,
    domain: "www.example.com",
    preferences: { marketing: true },
    givenAt: Date.now(),
    metadata,
  };
  const { "cf-connecting-ip": address = "", "user-agent": browser = "" } = headers ?? {};
  return {
    method: "POST",
    path: "/api/c15t/subjects",
    headers: { "content-type": "application/json", origin, "user-agent": browser, "x-forwarded-for": address },
    body: JSON.stringify(consent),
  };
};

const countBytes = (postgres: Postgres): number =>
  Number(
    postgres.query(
      "c15t",
      "select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace",
    )[0],
  );

/** Adds subjects with one consent each. The consents are copies of an existing one. */
const fill = ({ query }: Postgres, rows: number): void => {
  query(
    "c15t",
    `insert into subject (id, "createdAt", "updatedAt") select 'sub_fill' || g, now(), now() from generate_series(1, ${rows}) g`,
  );
  query(
    "c15t",
    `insert into consent (id, "subjectId", "domainId", "policyId", "purposeIds", metadata, "ipAddress", "userAgent", "givenAt", jurisdiction)
     select 'cns_fill' || g, 'sub_fill' || g, c."domainId", c."policyId", c."purposeIds", c.metadata, c."ipAddress", c."userAgent", now(),
       c.jurisdiction from generate_series(1, ${rows}) g, (select * from consent limit 1) c`,
  );
  query("c15t", "analyze");
};

const post = async (url: string, { path, headers, body }: Request): Promise<string> => {
  const response = await fetch(`${url}${path}`, { method: "POST", headers: { ...headers }, body: body as string });
  if (!response.ok) throw new Error(`peers: ${path} returned ${response.status}: ${await response.text()}`);
  return response.text();
};

export const compareRecords = async (bench: Bench & { readonly slices: Slices }, folder: string, postgres: Postgres): Promise<void> => {
  const { acme } = bench.world;
  const env = { DATABASE_URL: postgres.createDatabase("c15t"), PORT: String(await findFreePort()), NODE_ENV: "production" };
  execFileSync(process.execPath, [join(folder, "c15t-server.mjs"), "migrate"], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  const server = await startProgram(folder, ["c15t-server.mjs"], env);
  const service = await startBenchService(bench, "peers-records");
  await capturePolicies(service.db);
  const svc = { url: service.url, getCpuMs: () => getCpuMs(service.pid) };
  const peer = { url: `http://127.0.0.1:${env.PORT}`, getCpuMs: () => getTreeCpuMs([server.pid, String(postgres.pid)]) };

  const certificates = await Promise.all(Array.from({ length: 50 }, (_, n) => issueCertificate(service.url, acme, 1_000_000 + n)));
  const subjects = await Promise.all(
    Array.from({ length: 50 }, async (_, n) => {
      const subject = createSubjectId();
      await post(peer.url, toC15tRequest(consentRequest(acme, origin, 1_000_000 + n), subject));
      return subject;
    }),
  );

  const compare = async (title: string): Promise<void> => {
    console.log(`\n${title}, ${bench.slices.connections} connections, ${bench.slices.rounds} rounds of ${bench.slices.seconds} s each`);
    const all = [
      createSeries("svc POST /v1/consent", null, svc, (n) => consentRequest(acme, origin, n)),
      createSeries("c15t POST /subjects", "svc POST /v1/consent", peer, (n) =>
        toC15tRequest(consentRequest(acme, origin, n), createSubjectId()),
      ),
      createSeries("svc GET verify", null, svc, (n) => ({
        method: "GET",
        path: `/v1/certs/${pick(certificates, n)}/verify`,
        headers: clientAddressHeader(n),
      })),
      createSeries("c15t GET /subjects/{id}", "svc GET verify", peer, (n) => ({
        method: "GET",
        path: `/api/c15t/subjects/${pick(subjects, n)}`,
        headers: { "user-agent": "Mozilla/5.0" },
      })),
    ];
    await runRounds(all, bench.slices);
    printRounds(all);
  };

  const [before, count] = [countBytes(postgres), 1_000];
  for (let n = 0; n < count; n += 1) await post(peer.url, toC15tRequest(consentRequest(acme, origin, 2_000_000 + n), createSubjectId()));
  console.log(`\nc15t             ${((countBytes(postgres) - before) / count).toFixed(0)} B of PostgreSQL per record`);
  await compare("c15t as shipped, new database");
  fill(postgres, filledRows);
  await compare(`c15t as shipped, ${filledRows} records more`);
  postgres.query("c15t", 'create index consent_subject on consent ("subjectId")');
  postgres.query("c15t", "analyze");
  await compare(`c15t with an index on consent."subjectId", ${filledRows} records more`);
  await server.kill();
  await service.runtime.dispose();
};
