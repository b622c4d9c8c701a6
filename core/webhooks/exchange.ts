// What is kept of the request and response of a delivery attempt. The limits bound what a busy or hostile endpoint can make us store:
// 3,000 attempts of at most about 25 kB.
import { encodeUtf8 } from "../bytes.ts";
import { dayMs } from "../time.ts";

/** How long an attempt can be viewed. */
export const attemptRetentionMs = 7 * dayMs;
/** The newest attempts of an endpoint are kept. Successes and failures count separately, so that successes do not push out failures. */
export const maxRecordedAttempts = { delivered: 1_000, failed: 2_000 } as const;
/** The newest attempts of one delivery that are shown: five scheduled ones, and replays. */
export const maxShownAttempts = 20;

/** Bytes kept of a response body. */
export const maxResponseBodyBytes = 4_096;
const maxResponseHeaderBytes = 4_096;
const maxResponseHeaders = 50;

/** One header: its name, in lowercase, and its value. */
export type Header = readonly [name: string, value: string];

export interface WebhookResponse {
  readonly headers: readonly Header[];
  /** The first 4 kB, as text. */
  readonly body: string;
  /** True if the response had more headers or a longer body than are kept, or the body did not arrive in time. */
  readonly isCut: boolean;
}

/** What one attempt sent and received. The request body is not part of it, because it is built from the event again. */
export interface WebhookExchange {
  readonly requestHeaders: readonly Header[];
  /** Null if there was no response. */
  readonly response: WebhookResponse | null;
}

// Control characters other than tab and line breaks: they take six bytes each in JSON, and no reader can see them.
const controlCharacters = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

const isContinuationByte = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Decodes at most `maxResponseBodyBytes` bytes, without a character that this limit would split. */
const decodeStart = (bytes: Uint8Array): string => {
  let end = Math.min(bytes.length, maxResponseBodyBytes);
  while (end > maxResponseBodyBytes - 3 && isContinuationByte(bytes[end])) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
};

/** Reads the first bytes of a body as text. Bytes that are not UTF-8 become U+FFFD. `hasMore` says whether the body continues. */
export const toResponseBody = (bytes: Uint8Array, hasMore: boolean): { readonly body: string; readonly isCut: boolean } => {
  const text = decodeStart(bytes).replace(controlCharacters, "\ufffd");
  const body = decodeStart(encodeUtf8(text)); // a replacement character takes three bytes
  return { body, isCut: hasMore || bytes.length > maxResponseBodyBytes || body.length < text.length };
};

/** Keeps headers in their order while they fit. */
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
