// Checks a deployment from the outside: that each host responds, and that a sandbox certificate can be issued, verified and withdrawn.
import { setTimeout as pause } from "node:timers/promises";
import type { Deployment } from "./config.ts";

/** Cloudflare creates the TLS certificate and DNS record of a new host within a few minutes. */
const hostDeadlineMs = 5 * 60_000;
const retryMs = 2_000;

interface Answer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;
}

export interface CheckOptions {
  readonly adminToken: string;
  /** The origin to call instead of the public hosts, for a deployment that is reached at a different address. */
  readonly origin: string | null;
  readonly report: (text: string) => void;
  readonly deadlineMs?: number;
}

/** Checks the deployment. Throws if a check fails, with the name of the check. */
export const checkDeployment = async (
  { hosts }: Deployment,
  { adminToken, origin, report, deadlineMs = hostDeadlineMs }: CheckOptions,
): Promise<void> => {
  const toOrigin = (host: string): string => origin ?? `https://${host}`;
  const api = `${toOrigin(hosts.api)}/v1`;

  const call = async (url: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await fetch(url, { redirect: "manual", ...init });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    return { status: response.status, data: isJson ? (JSON.parse(text) as { data?: Answer["data"] }).data : undefined };
  };
  const post = (url: string, body: object | null, headers: Record<string, string>, method = "POST"): Promise<Answer> =>
    call(url, {
      method,
      headers: { ...(body !== null && { "content-type": "application/json" }), ...headers },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
  const expectStatus = async (name: string, response: Promise<Answer>, ...statuses: readonly number[]): Promise<Answer> => {
    const received = await response;
    if (!statuses.includes(received.status)) throw new Error(`Check failed: ${name} returned ${received.status}.`);
    report(name);
    return received;
  };
  const waitForHost = async (name: string, url: string, ...statuses: readonly number[]): Promise<void> => {
    const deadline = Date.now() + deadlineMs;
    for (;;) {
      const response = await call(url).catch(() => null);
      if (response !== null && statuses.includes(response.status)) return report(name);
      if (Date.now() >= deadline)
        throw new Error(`Check failed: ${name} ${response === null ? "does not respond" : `returned ${response.status}`} at ${url}.`);
      await pause(Math.min(retryMs, deadlineMs));
    }
  };

  await waitForHost("API and databases", `${api}/health`, 200);
  await waitForHost("Page script", `${toOrigin(hosts.cdn)}/v1/svc.js`, 200);
  await waitForHost("App", `${toOrigin(hosts.app)}/portal/sign-in`, 200);
  await waitForHost("Agent server", `${toOrigin(hosts.mcp)}/mcp`, 401, 405);
  await waitForHost("Certificate pages", `${toOrigin(hosts.verify)}/`, 200);

  const operator = { authorization: `Bearer ${adminToken}` };
  const prepared = await expectStatus("Operator token", post(`${api}/admin/deployment-check`, null, operator), 201);
  const { client_id: clientId, api_key: apiKey } = prepared.data as { readonly client_id: string; readonly api_key: string };
  const business = { authorization: `Bearer ${apiKey}` };
  try {
    const submission = {
      client_id: clientId,
      fields: { phone: "+12025550123" }, // without an email address, the service sends no email; the phone number is fictional
      disclosure_text: "This sandbox certificate checks the deployment.",
      entities: ["Deployment check"],
      purpose: "deployment check",
      page_url: "http://localhost/",
    };
    const issued = await expectStatus(
      "Sandbox certificate issued",
      post(`${api}/consent`, submission, { ...business, origin: "http://localhost" }),
      201,
    );
    const certId = String(issued.data?.cert_id);
    const withdrawal = { method: "sms_stop", scope: "certificate", received_at: new Date().toISOString() };
    const readStatus = async (): Promise<unknown> => (await call(`${api}/certs/${certId}/verify`)).data?.status;
    if ((await readStatus()) !== "active") throw new Error("Check failed: the certificate does not verify as active.");
    await expectStatus("Sandbox certificate verified", call(`${toOrigin(hosts.verify)}/c/${certId}`), 200);
    await expectStatus("Sandbox certificate withdrawn", post(`${api}/certs/${certId}/withdrawals`, withdrawal, business), 201);
    if ((await readStatus()) !== "revoked") throw new Error("Check failed: the certificate does not verify as withdrawn.");
  } finally {
    await post(`${api}/admin/deployment-check`, null, operator, "DELETE").catch(() => null);
  }
};
