// Reads JSON request bodies with a size limit, decodes them strictly and parses them as I-JSON. Does not use Hono's bodyLimit, which
// responds while the body is still arriving and so resets the connection. Does not use Hono's JSON parser, which accepts more than I-JSON.
import { concatBytes } from "../../core/bytes.ts";
import type { Json } from "../../core/canonical-json.ts";
import { isSubmissionSizeAccepted, maxSubmissionBytes } from "../../core/certificates/submission-size.ts";
import { parseIJson, type IJsonOptions } from "../../core/i-json.ts";
import { refusals } from "../../core/refusals.ts";
import type { AppEnv } from "./context.ts";
import { failure, refusal } from "./envelope.ts";
import { defineGuard } from "./guards/define-guard.ts";

export const maxBodyBytes = 256 * 1_024; // far larger than any request without disclosure text

/**
 * Returns the body, or null if it is longer than `maxBytes`. Reads a longer body to the end and discards it. Otherwise, the caller would
 * see a reset connection instead of a response.
 */
export const readBodyUpTo = async (request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> => {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size <= maxBytes) chunks.push(chunk);
    else chunks.length = 0;
  }
  return size > maxBytes ? null : concatBytes(...chunks);
};

export const requestMediaType = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** Returns the error message for an unacceptable Content-Type or Content-Encoding header, or null if both are acceptable. */
const findEncodingError = ({ headers }: Request, accepted: readonly string[]): string | null => {
  if (headers.has("content-encoding")) return "Content-Encoding: must not be sent.";
  const rule = `must be ${accepted.join(" or ")}`;
  const type = headers.get("content-type");
  if (type === null) return `Content-Type: is required and ${rule}.`;
  const [name, ...parameters] = type
    .toLowerCase()
    .split(";")
    .map((part) => part.trim());
  if (name === undefined || !accepted.includes(name)) return `Content-Type: ${rule}.`;
  const hasOtherCharset = parameters.some((parameter) => parameter.startsWith("charset=") && !/^charset=("?)utf-?8\1$/.test(parameter));
  return hasOtherCharset ? "Content-Type: the charset must be UTF-8." : null;
};

/** Replaces the body with the validated bytes, as `application/json`, so that Hono and zod can read it in the usual way. */
const withJsonBody = (request: Request, body: Uint8Array<ArrayBuffer>): Request => {
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/json");
  headers.delete("content-length");
  return new Request(request, { headers, body });
};

interface BodyRules extends IJsonOptions {
  readonly accepted: readonly string[];
  readonly isOptional?: boolean;
  readonly invalidRequestMeaning?: string;
  readonly tooLargeMessage?: string;
  readonly maxBytes?: number;
  /** Decides whether a body of more than 256 KiB is accepted. */
  readonly isLargeBodyAccepted?: (body: Json, bytes: number) => boolean;
}

const requireJson = ({
  accepted,
  isOptional = false,
  invalidRequestMeaning = "A field or parameter is invalid. The message says which one and why.",
  tooLargeMessage = refusals.payload_too_large,
  maxBytes = maxBodyBytes,
  isLargeBodyAccepted = () => false,
  ...options
}: BodyRules) =>
  defineGuard<AppEnv>(
    { refuses: ["unsupported_media_type"], when: { payload_too_large: tooLargeMessage, invalid_request: invalidRequestMeaning } },
    async (c, next) => {
      const { raw } = c.req;
      const isAbsent = raw.body === null || raw.headers.get("content-length") === "0";
      if (isOptional && isAbsent) {
        c.req.raw = withJsonBody(raw, new TextEncoder().encode("{}") as Uint8Array<ArrayBuffer>);
        return next();
      }
      // Read the body even if the headers are refused. Otherwise, the caller would see a reset connection instead of the refusal.
      const bytes = await readBodyUpTo(raw, maxBytes);
      const encodingError = findEncodingError(raw, accepted);
      if (encodingError !== null) return failure(c, "unsupported_media_type", encodingError);
      if (bytes === null) return failure(c, "payload_too_large", tooLargeMessage);
      const parsed = parseIJson(bytes, options);
      if (bytes.length > maxBodyBytes && !(parsed.ok && isLargeBodyAccepted(parsed.value, bytes.length)))
        return failure(c, "payload_too_large", tooLargeMessage);
      if (!parsed.ok) return refusal(c, parsed);
      c.set("requestBody", parsed.value);
      c.req.raw = withJsonBody(raw, bytes);
      return next();
    },
  );

/** Accepts only `application/json`, which forms on other sites cannot send. */
export const jsonBody = requireJson({ accepted: ["application/json"] });

/**
 * For form submissions. In addition to `application/json`, accepts JSON as `text/plain`, which the page script sends to avoid the delay of
 * a CORS preflight. Also accepts unpaired surrogates (half of an emoji) in field values, and bodies larger than 256 KiB if the disclosure
 * and the recipients account for the excess.
 */
export const submissionBody = requireJson({
  accepted: ["application/json", "text/plain"],
  looseMember: "fields",
  maxBytes: maxSubmissionBytes,
  tooLargeMessage:
    "The request body must be at most 256 KiB, or at most 4 MiB if everything except disclosure_text and the lists of recipients takes at most 64 KiB.",
  isLargeBodyAccepted: isSubmissionSizeAccepted,
});

/** For routes with optional input. A missing body counts as an empty object. Any other body must be `application/json`. */
export const optionalJsonBody = requireJson({ accepted: ["application/json"], isOptional: true });

/** For routes without input. A JSON body is accepted and ignored. */
export const noBody = requireJson({
  accepted: ["application/json"],
  isOptional: true,
  invalidRequestMeaning: "The body is not valid JSON. This route does not need a body.",
});
