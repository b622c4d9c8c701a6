// A request body, read off the wire once: counted while it arrives, decoded strictly, parsed as I-JSON (CONTRACT 18). hono's own
// bodyLimit answers while the body is still arriving, which resets the connection, and its JSON is the lenient one.
import { concatBytes } from "../../core/bytes.ts";
import { parseIJson } from "../../core/i-json.ts";
import type { AppEnv } from "./context.ts";
import { failure, refusal } from "./envelope.ts";
import { defineGuard } from "./guards/define-guard.ts";

export const maxBodyBytes = 256 * 1_024; // CONTRACT 0: a disclosure of 20,000 characters and 1,000 recipients fit many times over

/** The bytes, or null past the cap. The rest is read and dropped, so that the caller gets an answer and not a reset. */
export const readBodyUpTo = async (request: Request, cap: number): Promise<Uint8Array<ArrayBuffer> | null> => {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= cap) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > cap ? null : concatBytes(...chunks);
};

export const requestMediaType = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** What is wrong with how a body is sent, or null. */
const findEncodingError = ({ headers }: Request, accepted: readonly string[]): string | null => {
  if (headers.has("content-encoding")) return "Content-Encoding: must not be sent.";
  const rule = `must be ${accepted.join(" or ")}`;
  const type = headers.get("content-type");
  if (type === null) return `Content-Type: is missing, ${rule}.`;
  const [name, ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (name === undefined || !accepted.includes(name)) return `Content-Type: ${rule}.`;
  const isOther = parameters.some((parameter) => parameter.startsWith("charset=") && !/^charset=("?)utf-?8\1$/.test(parameter));
  return isOther ? "Content-Type: the charset must be UTF-8." : null;
};

/** Hands the body on as `application/json`, whatever it was called: from here on hono and zod read it as they always do. */
const withJsonBody = (request: Request, body: Uint8Array<ArrayBuffer>): Request => {
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  return new Request(request, { headers, body });
};

const requireJson = (accepted: readonly string[], mayBeAbsent: boolean, invalid: string) =>
  defineGuard<AppEnv>({ refuses: ["payload_too_large", "unsupported_media_type"], when: { invalid_request: invalid } }, async (c, next) => {
    const { raw } = c.req;
    const isAbsent = raw.body === null || raw.headers.get("content-length") === "0";
    if (mayBeAbsent && isAbsent) {
      c.req.raw = withJsonBody(raw, new TextEncoder().encode("{}") as Uint8Array<ArrayBuffer>);
      return next();
    }
    const bytes = await readBodyUpTo(raw, maxBodyBytes); // read even when its type is refused: see above
    const fault = findEncodingError(raw, accepted);
    if (fault !== null) return failure(c, "unsupported_media_type", fault);
    if (bytes === null) return failure(c, "payload_too_large");
    const parsed = parseIJson(bytes);
    if (!parsed.ok) return refusal(c, parsed);
    c.set("sent", parsed.value);
    c.req.raw = withJsonBody(raw, bytes);
    return next();
  });

const invalidInputMessage = "The message names the input and the rule.";

/** JSON and nothing else: whatever a form on another site can send is refused. */
export const jsonBody = requireJson(["application/json"], false, invalidInputMessage);

/** The page script sends JSON as text/plain: a simple request, so no preflight delays a first submission. */
export const jsonOrTextBody = requireJson(["application/json", "text/plain"], false, invalidInputMessage);

/** For routes that can do without input: no body at all is an empty object; a form or a text is refused all the same. */
export const optionalJsonBody = requireJson(["application/json"], true, invalidInputMessage);

/** The same where a body says nothing: it is passed over. */
export const noBody = requireJson(["application/json"], true, "There is a body, and it is not JSON: none is needed.");
