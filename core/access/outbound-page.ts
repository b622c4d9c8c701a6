// The contract for fetching a page from a third-party site. Every failure is a value, because such pages are routinely slow, wrong or
// hostile.

export interface PageRequest {
  readonly url: string;
  readonly userAgent: string;
  /** Redirects are followed only to hosts for which this returns true. */
  readonly isAllowedHost: (hostname: string) => boolean;
  readonly ports: readonly number[];
  /** The total time for name resolution, redirects and body. */
  readonly timeoutMs: number;
  /** The size after decompression. */
  readonly maxBytes: number;
  /** `json`: accepts only a JSON document. */
  readonly accept?: "json";
  /** Defaults to three. */
  readonly maxRedirects?: number;
}

export interface FetchedPage {
  /** The final URL after redirects. */
  readonly url: string;
  readonly type: "text/html" | "text/plain" | "application/json";
  readonly body: string;
  /** The cache lifetime in seconds that the host specified; undefined if it specified none. */
  readonly maxAgeSeconds?: number;
  /** The Content-Security-Policy header, if any. */
  readonly contentSecurityPolicy?: string;
}

export type PageFetchResult =
  | { readonly outcome: "page"; readonly page: FetchedPage }
  /** The URL was refused, or the host responded in a way that retrying will not change. */
  | {
      readonly outcome: "nothing";
      readonly reason: "address" | "not_public" | "left_site" | "redirects" | "status" | "type" | "too_large";
    }
  /** The host gave no reliable response, so retry later. */
  | { readonly outcome: "unreached"; readonly reason: "dns" | "network" | "timeout" | "status" };

/** Never throws. */
export type FetchPage = (request: PageRequest) => Promise<PageFetchResult>;
