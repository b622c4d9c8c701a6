// The result of granting a share. It is also returned if the request was decided earlier.
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";

export interface GrantResult {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** True if this is the result of an earlier decision on the same request. */
  readonly isRepeated: boolean;
}
