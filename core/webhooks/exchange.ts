// The parts of a delivery attempt's request and response that are kept. Because of the limits, even a busy or hostile endpoint can make the
// service store at most about 3,000 attempts of about 25 kB each.
import { encodeUtf8 } from "../bytes.ts";
import { dayMs } from "../time.ts";

/** How long an attempt is kept and can be viewed. */
export const attemptRetentionMs = 7 * dayMs;
/**
 * How many of an endpoint's newest attempts are kept. Successes and failures are counted separately, so that successes do not replace
 * failures.
 */
export const maxRecordedAttempts = { delivered: 1_000, failed: 2_000 } as const;
/** How many of a delivery's newest attempts are shown. A delivery has at most five scheduled attempts, but replays can add others. */
export const maxShownAttempts = 20;

export const maxResponseBodyBytes = 4_096;
const maxResponseHeaderBytes = 4_096;
const maxResponseHeaders = 50;

/** One header: its name, in lowercase, and its value. */
export type Header = readonly [name: string, value: string];

export interface WebhookResponse {
  readonly headers: readonly Header[];
  /** The first 4 KiB of the body, as text. */
  readonly body: string;
  /** True if the response had more headers or a longer body than are kept, or if the body did not arrive in time. */
  readonly isCut: boolean;
}

/** The request and response of one attempt, without the request body, which can be built from the event again. */
export interface WebhookExchange {
  readonly requestHeaders: readonly Header[];
  /** The response; null if there was none. */
  readonly response: WebhookResponse | null;
}

// Matches control characters other than tabs and line breaks. Readers cannot see them, and most of them take six bytes in JSON.
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

const isContinuationByte = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Decodes at most `maxResponseBodyBytes` bytes. Drops the last character if the limit splits it. */
const decodeStart = (bytes: Uint8Array): string => {
  let end = Math.min(bytes.length, maxResponseBodyBytes);
  while (end > maxResponseBodyBytes - 3 && isContinuationByte(bytes[end])) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
};

/**
 * Reads the first bytes of a body as text. Bytes that are not UTF-8, and control characters except tabs and line breaks, become U+FFFD.
 * `hasMore` is true if the body continues.
 */
export const toResponseBody = (bytes: Uint8Array, hasMore: boolean): { readonly body: string; readonly isCut: boolean } => {
  const text = decodeStart(bytes).replace(controlCharacters, "\ufffd");
  const body = decodeStart(encodeUtf8(text)); // each replacement character takes three bytes, so the text may exceed the limit again
  return { body, isCut: hasMore || bytes.length > maxResponseBodyBytes || body.length < text.length };
};

/** Returns the first headers, as many as fit within the limits. */
export const cutHeaders = (headers: Iterable<Header>): { readonly headers: readonly Header[]; readonly isCut: boolean } => {
  const kept: Header[] = [];
  let size = 0;
  for (const [name, value] of headers) {
    size += encodeUtf8(name).length + encodeUtf8(value).length;
    if (size > maxResponseHeaderBytes || kept.length >= maxResponseHeaders) return { headers: kept, isCut: true };
    kept.push([name, value]);
  }
  return { headers: kept, isCut: false };
};
