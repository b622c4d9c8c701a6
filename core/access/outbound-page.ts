// The contract for fetching a page from a third-party site. Failures are returned, not thrown, because third-party sites are often slow,
// broken or hostile.

export interface PageRequest {
  readonly url: string;
  readonly userAgent: string;
  /** Returns whether a page or the target of a redirect may be fetched from the host. */
  readonly isAllowedHost: (hostname: string) => boolean;
  readonly ports: readonly number[];
  /** The total time limit, in milliseconds, for name resolution, redirects and reading the body. */
  readonly timeoutMs: number;
  /** The maximum size of the body, in bytes after decompression. */
  readonly maxBytes: number;
  /** If `json`, only a JSON document is accepted. */
  readonly accept?: "json";
  /** The maximum number of redirects; three by default. */
  readonly maxRedirects?: number;
}

export interface FetchedPage {
  /** The final URL after redirects. */
  readonly url: string;
  readonly type: "text/html" | "text/plain" | "application/json";
  readonly body: string;
  /** The cache lifetime in seconds that the host specified; undefined if it specified none. */
  readonly maxAgeSeconds?: number;
  readonly contentSecurityPolicy?: string;
}

export type PageFetchResult =
  | { readonly outcome: "page"; readonly page: FetchedPage }
  /** The URL was refused, or the response is unusable. Retrying would not help. */
  | {
      readonly outcome: "nothing";
      readonly reason: "address" | "not_public" | "left_site" | "redirects" | "status" | "type" | "too_large";
    }
  /** The host did not respond, or its response may be different later. The caller should try again. */
  | { readonly outcome: "unreached"; readonly reason: "dns" | "network" | "timeout" | "status" };

/** Fetches a page. Never throws. */
export type FetchPage = (request: PageRequest) => Promise<PageFetchResult>;
