// The headers of an answer, gathered as plain values while a request passes its guards and handed to the runtime in one piece:
// a call into its Headers costs as much as all of them together, and an answer has some twenty.
import type { Context } from "hono";
import type { Api } from "./context.ts";

/** Adds to the headers of the answer, whichever it will be; a later value takes the place of an earlier one. */
export const setHeaders = (c: Context<Api>, headers: Readonly<Record<string, string>>): void => {
  Object.assign(c.get("headers"), headers);
};

/** The answer, with everything gathered for it. */
export const respond = (c: Context<Api>, status: number, body: BodyInit | null, contentType?: string): Response => {
  const headers = contentType === undefined ? c.get("headers") : { ...c.get("headers"), "Content-Type": contentType };
  const answer = new Response(body, { status, headers });
  c.set("answer", answer);
  return answer;
};

/** Gives an answer made elsewhere (a page, an object's) what was gathered and it does not say itself. */
export const complete = (c: Context<Api>): void => {
  if (c.res === c.get("answer")) return;
  const { headers } = c.res;
  for (const [name, value] of Object.entries(c.get("headers"))) {
    if (name === "Set-Cookie") headers.append(name, value);
    else if (!headers.has(name)) headers.set(name, value);
  }
};
