// Creates what a test of AI assistants needs in the running service: a session, an agent token, a share, and an authorized OAuth
// connection.
import { computeCodeChallenge } from "../../core/shares/pkce.ts";
import type { Realm } from "../../core/access/session.ts";
import type { LocalService } from "./local-service.ts";
import { findNewestCode } from "./email-code.ts";

const postJson = (service: LocalService, path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Waits for an email with a code and returns the newest code. */
export const findEmailCode = async (service: LocalService, email: string): Promise<string> => {
  for (;;) {
    const response = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await response.json()) as { messages: { text: string }[] };
    const code = findNewestCode(messages);
    if (code !== undefined) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** Signs in by email code and returns the session cookie. */
export const signInToService = async (service: LocalService, realm: Realm, email: string): Promise<string> => {
  await postJson(service, "/v1/auth/request-code", { email, realm });
  const response = await postJson(service, "/v1/auth/verify-code", { email, realm, code: await findEmailCode(service, email) });
  return (response.headers.get("set-cookie") ?? "").split(";")[0] as string;
};

const tokenPaths: Readonly<Record<Realm, string>> = { consumer: "/v1/me/agent-token", business: "/v1/business/portal/agent-token" };

export const createToken = async (service: LocalService, realm: Realm, cookie: string): Promise<string> => {
  const response = await postJson(service, tokenPaths[realm], {}, { cookie });
  return ((await response.json()) as { data: { token: string } }).data.token;
};

/** Grants a share to the demo business and returns its ID. */
export const createShare = async (service: LocalService, cookie: string): Promise<string> => {
  await fetch(`${service.origin}/v1/me/fields`, {
    method: "PUT",
    headers: { "content-type": "application/json", cookie },
    body: JSON.stringify({ email: "pat@example.com", phone: "+1 202 555 0123" }),
  });
  const request = {
    client_id: service.world.acme.clients.live,
    origin: "https://www.example.com",
    scope: ["email", "phone"],
    purpose: "Send you a solar estimate",
    code_challenge: computeCodeChallenge("x".repeat(43)),
    code_challenge_method: "S256",
    consent: true,
  };
  const response = (await (await postJson(service, "/v1/share/consent", request, { cookie })).json()) as {
    data: { share: { id: string } };
  };
  return response.data.share.id;
};

/** Approves a connection on the OAuth consent page, as a browser does, and returns the redirect URL. */
export const approveConnection = async (cookie: string, address: URL): Promise<URL> => {
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const request = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const response = await fetch(new URL("/oauth/authorize/decide", address), {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ request, decision: "allow" }).toString(),
  });
  return new URL(response.headers.get("location") ?? "");
};
