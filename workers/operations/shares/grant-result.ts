// The result of granting a share, also returned for a decision that was made before.
import type { Share } from "../../../core/shares/share.ts";
import type { Instant } from "../../../core/time.ts";

export interface GrantResult {
  readonly code: string;
  readonly codeExpiresAt: Instant;
  readonly share: Share;
  /** The request was decided before; this is that decision. */
  readonly isRepeated: boolean;
}
