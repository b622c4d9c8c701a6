// Signing in to the service that runs for a test, as a member of a business does: by a mailed code.
import { newestCode } from "./mailed-code.ts";

/** The cookie of a fresh session. */
export const signInTo = async (origin: string, email: string, realm: "business" | "consumer" = "business"): Promise<string> => {
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${origin}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  await post("/v1/auth/request-code", { email, realm });
  const mail = await fetch(`${origin}/dev/mail?to=${encodeURIComponent(email)}`, { headers: { accept: "application/json" } });
  const { messages } = (await mail.json()) as { messages: readonly { text: string }[] };
  const code = newestCode(messages);
  const answer = await post("/v1/auth/verify-code", { email, realm, code });
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] as string;
};
