// A page of somebody else's site, as a guarded GET answers it. Every way it can fail is a value: the pages of strangers
// are slow, wrong and hostile as a matter of course.

export interface PageRequest {
  readonly url: string;
  readonly userAgent: string;
  /** Redirects are followed only to hosts for which this is true. */
  readonly isAllowedHost: (hostname: string) => boolean;
  readonly ports: readonly number[];
  /** For everything together: resolving, redirects, body. */
  readonly timeoutMs: number;
  /** After decompression. */
  readonly maxBytes: number;
  /** A JSON document where it is asked for, and nothing else then. */
  readonly accept?: "json";
  /** Three unless said otherwise. */
  readonly maxRedirects?: number;
}

export interface FetchedPage {
  /** Where it was found, after redirects. */
  readonly url: string;
  readonly type: "text/html" | "text/plain" | "application/json";
  readonly body: string;
  /** For how many seconds its host lets it be kept; undefined where it does not say. */
  readonly maxAgeSeconds?: number;
  /** Its Content-Security-Policy, where it has one. */
  readonly contentSecurityPolicy?: string;
}

export type PageFetchResult =
  | { readonly outcome: "page"; readonly page: FetchedPage }
  /** The address was judged or the host answered, and asking again would say the same. */
  | {
      readonly outcome: "nothing";
      readonly reason: "address" | "not_public" | "left_site" | "redirects" | "status" | "type" | "too_large";
    }
  /** No answer that can be relied on; ask again later. */
  | { readonly outcome: "unreached"; readonly reason: "dns" | "network" | "timeout" | "status" };

/** Never throws. */
export type FetchPage = (request: PageRequest) => Promise<PageFetchResult>;
