// Measures response times of public, account and portal pages, with a business that has many certificates. Requests the pages one after
// another over one connection.
import { runLoad, percentile, type Request } from "./load.ts";
import { countCertificates, insertCertificates } from "./seed.ts";
import { clientAddressHeader, issueCertificate, startBenchService, type Bench } from "./measured-service.ts";
import { grantOne, createPerson, signInByEmailCode } from "./shares.ts";
import { dayMs } from "../../core/time.ts";
import { seedPeople, openVaultFromVars } from "../demo-world.ts";
import { livePaths } from "../../workers/pages/portal/navigation.ts";

const seconds = 3;
const goalMs = 100;

export const measurePages = async (bench: Bench & { readonly size: number }): Promise<void> => {
  // One session requests each page hundreds of times, so raise the limit per session.
  const vars = { ...bench.vars, LIMIT_SESSION: "1000000/60" };
  const service = await startBenchService({ ...bench, vars }, "pages");
  const { db, url, runtime } = service;
  const { acme, ownerEmail } = bench.world;
  const certId = await issueCertificate(url, acme, 1_000_001); // create the recipient list that the seeded certificates refer to
  await insertCertificates(db, acme, bench.size, Date.now() - 365 * dayMs);
  await countCertificates(service);
  await seedPeople(db, await openVaultFromVars(bench.vars), bench.world, Date.now());
  const person = await createPerson(service, 0);
  const shareId = await grantOne(service, person, acme);
  const owner = await signInByEmailCode(url, { email: ownerEmail, realm: "business", ip: "10.7.0.1" });
  const as = (cookie: string, paths: readonly string[]) => paths.map((path) => ({ path, cookie }));
  const pages = [
    ...as("", ["/", "/withdraw", `/c/${certId}`, "/docs", "/docs/api/certificates"]),
    ...as(person, ["/app", `/app/shares/${shareId}`, "/app/details", "/app/history", "/app/account", "/app/agents"]),
    ...as(owner, [
      ...livePaths,
      "/portal/certificates?status=revoked",
      "/portal/certificates?purpose=Roof",
      `/portal/certificates/${certId}`,
    ]),
  ];
  console.log(`pages            of a business with ${bench.size} certificates, one connection, ${seconds} s each`);
  const slow: string[] = [];
  for (const { path, cookie } of pages) {
    const request = (n: number): Request => ({
      method: "GET",
      path,
      headers: {
        cookie,
        accept: "text/html",
        "user-agent": "Mozilla/5.0 Firefox/150.0",
        ...clientAddressHeader(n),
      },
    });
    await runLoad(url, request, { seconds: 1, connections: 1 }); // warms up code paths and caches
    const { latencies, statuses, requests } = await runLoad(url, request, { seconds, connections: 1 });
    const p95 = percentile(latencies, 0.95);
    const others = requests - (statuses[200] ?? 0);
    console.log(
      `${path.replace(/(?:cc|shr)_\w+/, "{id}").padEnd(36)} p50 ${percentile(latencies, 0.5).toFixed(1).padStart(6)} ms  p95 ${p95.toFixed(1).padStart(6)} ms${others === 0 ? "" : `  ${others} of ${requests} not 200`}`,
    );
    if (p95 > goalMs) slow.push(path);
  }
  console.log(slow.length === 0 ? `all within ${goalMs} ms` : `beyond ${goalMs} ms: ${slow.join(" ")}`);
  await runtime.dispose();
};
