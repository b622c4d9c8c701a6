// A request body, read off the wire once: counted while it arrives, decoded strictly, parsed as I-JSON. Nothing after this point ever
// sees raw input.
import { concatBytes } from "../../core/bytes.ts";
import type { Json } from "../../core/canonical-json.ts";
import { parseIJson } from "../../core/i-json.ts";
import { ok, refuse, type Result } from "../../core/result.ts";

const mostBytes = 256 * 1_024; // CONTRACT 0: a disclosure of 20,000 characters and 1,000 recipients fit many times over

type BodyRefusal = "payload_too_large" | "unsupported_media_type" | "invalid_request";

const mediaType = (request: Request): string => (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** The bytes, or null past the cap. The rest is read and dropped, so that the caller gets an answer and not a reset. */
const readCapped = async (request: Request): Promise<Uint8Array | null> => {
  const announced = request.headers.get("content-length");
  // The transport holds a body to its announced length, so a short one can be taken whole.
  if (announced !== null && Number(announced) <= mostBytes) {
    const whole = new Uint8Array(await request.arrayBuffer());
    return whole.length > mostBytes ? null : whole;
  }
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= mostBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (size > mostBytes) return null;
  return concatBytes(...chunks);
};

const alreadyRead = new WeakMap<Request, Promise<Uint8Array | null>>();

/** A body arrives once, and is looked at twice where the request has an idempotency key. */
const cappedBytes = (request: Request): Promise<Uint8Array | null> => {
  const bytes = alreadyRead.get(request) ?? readCapped(request);
  alreadyRead.set(request, bytes);
  return bytes;
};

/** Refuses the media type, then the size, then anything that is not I-JSON. */
export const readJsonBody = async (request: Request, accepted: readonly string[]): Promise<Result<Json, BodyRefusal>> => {
  const bytes = await cappedBytes(request); // read even when its type is refused: see above
  if (!accepted.includes(mediaType(request)) || request.headers.has("content-encoding")) return refuse("unsupported_media_type");
  return bytes === null ? refuse("payload_too_large") : parseIJson(bytes);
};

/** As `readJsonBody`, for routes that need no input: no body at all is an empty object. */
export const readOptionalJsonBody = async (request: Request): Promise<Result<Json, BodyRefusal>> => {
  if (request.headers.get("content-length") === "0" || request.body === null) return ok({});
  return readJsonBody(request, jsonOnly);
};

/** Whatever a form on another site can send is not this. */
export const jsonOnly = ["application/json"] as const;

/** The page script sends JSON as text/plain: a simple request, so no preflight delays a first submission. */
export const jsonOrText = ["application/json", "text/plain"] as const;
