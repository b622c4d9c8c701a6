// Signs in to a running service by email code through the API. Tests that are not about the sign-in pages use this, because loading one of
// those pages in a browser takes longer than a complete sign-in through the API.
import type { BrowserContext } from "playwright-core";
import { findNewestCode } from "./email-code.ts";

/** Waits for an email with a code and returns the newest code. The service sends the email after it has responded to the request. */
export const findEmailCode = async (origin: string, email: string): Promise<string> => {
  for (;;) {
    const response = await fetch(`${origin}/dev/mail?to=${encodeURIComponent(email)}`);
    const { messages } = (await response.json()) as { messages: readonly { text: string }[] };
    const code = findNewestCode(messages);
    if (code !== undefined) return code;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

/** Signs in and returns the cookie of the new session. */
export const signInToOrigin = async (origin: string, email: string, realm: "business" | "consumer" = "business"): Promise<string> => {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${origin}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  await post("/v1/auth/request-code", { email, realm });
  const response = await post("/v1/auth/verify-code", { email, realm, code: await findEmailCode(origin, email) });
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  if (cookie === undefined) throw new Error(`not signed in: ${await response.text()}`);
  return cookie;
};

/** Signs in and adds the session cookie to a browser. */
export const signInBrowser = async (
  context: BrowserContext,
  origin: string,
  email: string,
  realm: "business" | "consumer",
): Promise<void> => {
  const [name = "", value = ""] = (await signInToOrigin(origin, email, realm)).split("=");
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: "Lax" }]);
};
