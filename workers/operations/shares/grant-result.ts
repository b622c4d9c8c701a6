// The result of granting a share. Also returned if the request was decided earlier.
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";

export interface GrantResult {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** True if the request was decided earlier, so that this is the earlier decision. */
  readonly isRepeated: boolean;
}
