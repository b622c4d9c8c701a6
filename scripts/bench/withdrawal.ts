// Measures withdrawals: whether response times reveal that an email address is on a certificate, how soon a withdrawal is visible,
// concurrent confirmations of one withdrawal, and the contact check.
import { setTimeout as pause } from "node:timers/promises";
import { describeDistinguishability, median, p95, shuffle, measureTime } from "./timing-comparison.ts";
import {
  insertApiKeys,
  bearerHeader,
  capturePolicies,
  issueCertificate,
  findEmailCode,
  origin,
  sendJson,
  startBenchService,
  type Bench,
} from "./measured-service.ts";
import { consentRequest } from "./submission.ts";

const settleMs = 4_000; // long enough for the background work of the issuances, which continues after their responses

interface Person {
  readonly certId: string;
  readonly email: string;
}

export const measureWithdrawal = async (bench: Bench & { readonly samples: number }): Promise<void> => {
  const { runtime, url, db } = await startBenchService(bench, "withdrawal");
  const { acme } = bench.world;
  await capturePolicies(db);
  const keys = await insertApiKeys(db, acme, 20);
  const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    sendJson(url, "POST", path, body, headers);
  const people: Person[] = [];
  for (let n = 4_000_000; n < 4_000_000 + bench.samples; n += 1) {
    const { fields } = JSON.parse(consentRequest(acme, origin, n).body as string) as { fields: { email: string } };
    people.push({ certId: await issueCertificate(url, acme, n), email: fields.email });
  }
  const warm = people[0] as Person;
  for (let n = 0; n < 30; n += 1) await post(`/v1/certs/${warm.certId}/opt-out/request`, { email: `warm${n}@example.com` });
  await pause(settleMs);

  // Requests for the email address on the certificate and for an unknown address, in random order.
  const requests = shuffle(
    people.flatMap((person, n) => [
      { certId: person.certId, email: person.email, isHit: true },
      { certId: person.certId, email: `nobody${n}.${process.pid}@example.com`, isHit: false },
    ]),
  );
  const times = async (measure: (ask: (typeof requests)[number]) => Promise<number>): Promise<{ hit: number[]; miss: number[] }> => {
    const found = { hit: [] as number[], miss: [] as number[] };
    for (const request of requests) found[request.isHit ? "hit" : "miss"].push(await measure(request));
    return found;
  };
  const requested = await times(({ certId, email }) => measureTime(() => post(`/v1/certs/${certId}/opt-out/request`, { email }), 200));
  await pause(settleMs);
  const confirmed = await times(({ certId, email }) =>
    measureTime(() => post(`/v1/certs/${certId}/opt-out/confirm`, { email, code: "000000" }), 400),
  );
  console.log(describeDistinguishability("request", requested.hit, requested.miss));
  console.log(describeDistinguishability("confirm", confirmed.hit, confirmed.miss));

  const shown: number[] = [];
  const known: number[] = [];
  let stale = 0;
  for (const person of people.slice(0, 50)) {
    const code = await findEmailCode(url, person.email);
    const startedAt = performance.now();
    const response = await post(`/v1/certs/${person.certId}/opt-out/confirm`, { email: person.email, code });
    if (response.status !== 200) throw new Error(`bench: not withdrawn: ${await response.text()}`);
    const withdrawnAt = performance.now();
    const verified = (await (await fetch(`${url}/v1/certs/${person.certId}/verify`)).json()) as { data: { status: string } };
    shown.push(performance.now() - withdrawnAt);
    const checked = (await (
      await post("/v1/contact-check", { subjects: [{ email: person.email }] }, bearerHeader(keys, shown.length))
    ).json()) as {
      data: { results: { reason: string }[] };
    };
    known.push(performance.now() - startedAt);
    if (verified.data.status !== "revoked" || checked.data.results[0]?.reason !== "revoked") stale += 1;
  }
  console.log(
    `visible  in the first verify after the response and in the first contact-check: ${50 - stale} of 50; verify responded p95 ${p95(shown).toFixed(1)} ms after, confirm to contact-check p95 ${p95(known).toFixed(1)} ms`,
  );

  for (const size of [1, 100]) {
    const subjects = people.slice(0, size).map(({ email }) => ({ email }));
    const took: number[] = [];
    for (let n = 0; n < 200; n += 1)
      took.push(await measureTime(() => post("/v1/contact-check", { subjects }, bearerHeader(keys, n)), 200));
    console.log(`contact-check of ${size}: p50 ${median(took).toFixed(1)} ms, p95 ${p95(took).toFixed(1)} ms, one at a time`);
  }

  let once = 0;
  const races = 10;
  for (const person of people.slice(50, 50 + races)) {
    const code = await findEmailCode(url, person.email);
    const responses = await Promise.all(
      Array.from({ length: 100 }, () => post(`/v1/certs/${person.certId}/opt-out/confirm`, { email: person.email, code })),
    );
    const statuses = responses.map(({ status }) => status);
    await Promise.all(responses.map((response) => response.arrayBuffer()));
    if (statuses.filter((status) => status === 200).length === 1) once += 1;
  }
  console.log(`race     100 concurrent correct answers, ${races} codes: ${once} of ${races} withdrawn exactly once`);
  await runtime.dispose();
};
