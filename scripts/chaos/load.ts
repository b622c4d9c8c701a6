// The load of `npm run chaos`: submissions, verification, withdrawals, shares, webhook endpoints, sign-in codes, checkouts and the
// integration helper, all through the public routes. Each acknowledged write is added to the log.
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { areBytesEqual } from "../../core/bytes.ts";
import { consentRequest } from "../bench/submission.ts";
import type { Dice } from "../demo-month/random.ts";
import type { Client } from "./client.ts";
import type { OtherMachines } from "./other-machines.ts";
import type { Business, Grant, Registration, Submission, WriteLog } from "./write-log.ts";

const origin = "https://www.example.com";
const maxEndpoints = 8; // the limit per business in this test; the service allows 20

/** The path of the first shard's ledger in wrangler.toml. */
export const ledgerPath = "/ledger/2026h2";
export const oldTilePath = "tile/0/000";

export interface LoadOptions {
  readonly client: Client;
  readonly log: WriteLog;
  readonly dice: Dice;
  readonly businesses: readonly Business[];
  /** Cookies of signed-in people. */
  readonly people: readonly string[];
  /** The bytes of a tile that is only in R2. */
  readonly oldTile: Uint8Array;
}

const withKey = (headers: Readonly<Record<string, string>>) => ({ ...headers, "idempotency-key": randomUUID() });

/** Returns a function that sends one round of requests, as a different visitor each time. */
export const createLoad = ({ client, log, dice, businesses, people, oldTile }: LoadOptions): ((phase: number) => Promise<void>) => {
  let serial = 0;
  const nextAddress = () => ({ "cf-connecting-ip": `10.50.${(serial >> 8) & 255}.${serial & 255}` });

  /** Returns the submission and the token of the person's withdrawal link. The token is null if no certificate was acknowledged. */
  const submit = async (business: Business, phase: number): Promise<{ readonly submission: Submission; readonly token: string | null }> => {
    const { headers, body } = consentRequest(business.account, origin, serial++);
    const { email } = (JSON.parse(body as string) as { fields: { email: string } }).fields;
    const submission: Submission = { business, email, phase, certificate: null, isWithdrawn: false };
    log.submissions.push(submission);
    const response = await client.sendUntilAnswered("/v1/consent", { method: "POST", headers: { ...headers }, body: body as string });
    if (response?.status !== 201 && response?.status !== 200) return { submission, token: null };
    const { cert_id: id, fingerprint, manage_url: manageUrl } = response.data as Record<string, string>;
    submission.certificate = { id: id as string, fingerprint: fingerprint as string };
    return { submission, token: (manageUrl as string).split("#m=")[1] as string };
  };

  const verify = async ({ certificate }: Submission): Promise<void> => {
    if (certificate === null) return;
    const response = await client.send(`/v1/certs/${certificate.id}/verify`, { headers: nextAddress() });
    // A failed request is not a contradiction, because the reader can repeat it.
    if (response === null || response.status >= 500) return;
    if (response.status !== 200 || response.data.fingerprint !== certificate.fingerprint)
      log.contradictions.push(`verification of an issued certificate: ${response.status} ${response.code ?? ""}`);
  };

  const withdraw = async (submission: Submission, token: string): Promise<void> => {
    const path = `/v1/certs/${submission.certificate?.id}/opt-out/manage`;
    const response = await client.sendUntilAnswered(path, { method: "POST", headers: nextAddress(), body: { token } });
    // The code `already_revoked` means that an earlier attempt succeeded, but its response was lost.
    if (response?.status === 200 || response?.code === "already_revoked") submission.isWithdrawn = true;
  };

  const share = async (business: Business, phase: number): Promise<void> => {
    const cookie = dice.pick(people);
    const verifier = randomBytes(32).toString("base64url");
    const grant: Grant = { business, purpose: `Send you solar estimate ${serial++}`, phase, shareId: null, isRevoked: false };
    log.grants.push(grant);
    const clientId = business.account.clients.live;
    const granted = await client.sendUntilAnswered("/v1/share/consent", {
      method: "POST",
      headers: withKey({ ...nextAddress(), cookie }),
      body: {
        client_id: clientId,
        origin,
        scope: ["email", "phone"],
        purpose: grant.purpose,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
        consent: true,
      },
    });
    if (granted?.status !== 201) return;
    const { code, share: shared } = granted.data as { readonly code: string; readonly share: { readonly id: string } };
    grant.shareId = shared.id;
    await client.sendUntilAnswered("/v1/share/redeem", {
      method: "POST",
      headers: withKey({ ...nextAddress(), origin }),
      body: { code, code_verifier: verifier, client_id: clientId },
    });
    if (dice.roll() < 0.5) return;
    const revoked = await client.sendUntilAnswered(`/v1/shares/${shared.id}/revoke`, {
      method: "POST",
      headers: withKey({ ...nextAddress(), cookie }),
      body: {},
    });
    if (revoked?.status === 200) grant.isRevoked = true;
  };

  const addEndpoint = async (business: Business, phase: number): Promise<void> => {
    if (log.registrations.filter((registration) => registration.business === business).length >= maxEndpoints) return;
    const registration: Registration = { business, url: `https://hooks${serial++}.example.com/svc`, phase, endpointId: null };
    log.registrations.push(registration);
    const options = { method: "POST", headers: withKey({ cookie: business.owner }), body: { url: registration.url } };
    const response = await client.sendUntilAnswered("/v1/webhooks", options);
    if (response?.status === 201) registration.endpointId = String(response.data.id);
  };

  const requestCode = async (phase: number): Promise<void> => {
    const email = `reader${serial++}.${process.pid}@example.com`;
    const options = { method: "POST", headers: nextAddress(), body: { email, realm: "consumer" } };
    const response = await client.sendUntilAnswered("/v1/auth/request-code", options);
    if (response !== null && response.status < 300) log.codes.push({ email, phase });
  };

  /**
   * Reads a tile that is only in R2. The first request is for the whole tile, which the Worker serves. The second is for its beginning,
   * which the ledger's Durable Object serves.
   */
  const readOldTile = async (): Promise<void> => {
    for (const path of [oldTilePath, `${oldTilePath}.p/9`]) {
      const bytes = await client.download(`${ledgerPath}/${path}`, nextAddress());
      const expected = path === oldTilePath ? oldTile : oldTile.subarray(0, 9 * 32);
      if (bytes !== null && !areBytesEqual(bytes, expected)) log.contradictions.push("a tile of the ledger with other bytes");
    }
  };

  return async (phase) => {
    const business = dice.pick(businesses);
    const { submission, token } = await submit(business, phase);
    await verify(submission);
    await readOldTile();
    const action = dice.roll();
    if (action < 0.4 && token !== null) await withdraw(submission, token);
    else if (action < 0.6) await share(business, phase);
    else if (action < 0.7) await addEndpoint(business, phase);
    else if (action < 0.8) await requestCode(phase);
    else if (action < 0.85) await client.send("/v1/billing/checkout?plan=business", { headers: { cookie: business.owner } });
    else if (action < 0.9)
      await client.send("/v1/business/portal/integrate", {
        method: "POST",
        headers: { cookie: business.owner },
        body: { url: `${origin}/quote?form=${serial++}`, mode: "consent", purpose: "solar quote follow-up", entities: ["Acme Solar LLC"] },
      });
    await pause(20);
  };
};

/** Signs in with the code from the email and returns the cookie. */
export const signIn = async (
  client: Client,
  { emails }: OtherMachines,
  identity: { readonly email: string; readonly realm: "consumer" | "business" },
  address: string,
): Promise<string> => {
  const headers = { "cf-connecting-ip": address };
  const requested = await client.sendUntilAnswered("/v1/auth/request-code", { method: "POST", headers, body: identity });
  for (let polls = 0; polls < 1_200; polls += 1) {
    const code = /^\d{6}$/m.exec(emails.findLast(({ to }) => to === identity.email)?.text ?? "")?.[0];
    if (code === undefined) {
      await pause(50);
      continue;
    }
    const response = await client.sendUntilAnswered("/v1/auth/verify-code", { method: "POST", headers, body: { ...identity, code } });
    const cookie = (response?.headers.get("set-cookie") ?? "").split(";")[0] as string;
    if (cookie !== "") return cookie;
    throw new Error(`chaos: not signed in: ${response?.status} ${response?.code}`);
  }
  throw new Error(`chaos: no code arrived: ${requested?.status} ${requested?.code}`);
};
