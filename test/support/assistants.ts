// Assistants against the whole service: signing in with the code from the mail, making a token, and letting a program be connected.
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

/** The newest code that was mailed to the address. */
export const findEmailCode = async (service: LocalService, email: string): Promise<string> => {
  for (;;) {
    const answer = await fetch(`${service.origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await answer.json()) as { messages: { text: string }[] };
    const code = findNewestCode(messages);
    if (code !== undefined) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

/** The cookie of a session. */
export const signInToService = async (service: LocalService, realm: Realm, email: string): Promise<string> => {
  await postJson(service, "/v1/auth/request-code", { email, realm });
  const answer = await postJson(service, "/v1/auth/verify-code", { email, realm, code: await findEmailCode(service, email) });
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;
};

const tokenPaths: Readonly<Record<Realm, string>> = { consumer: "/v1/me/agent-token", business: "/v1/business/portal/agent-token" };

export const createToken = async (service: LocalService, realm: Realm, cookie: string): Promise<string> => {
  const answer = await postJson(service, tokenPaths[realm], {}, { cookie });
  return ((await answer.json()) as { data: { token: string } }).data.token;
};

/** A share of the person with the demo business; its id. */
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
  const answer = (await (await postJson(service, "/v1/share/consent", request, { cookie })).json()) as { data: { share: { id: string } } };
  return answer.data.share.id;
};

/** What a browser does on the consent page: reads the form, allows, and is sent where the answer goes. */
export const allowConnection = async (cookie: string, address: URL): Promise<URL> => {
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const request = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? "";
  const answer = await fetch(new URL("/oauth/authorize/decide", address), {
    method: "POST",
    redirect: "manual",
    headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ request, decision: "allow" }).toString(),
  });
  return new URL(answer.headers.get("location") ?? "");
};
