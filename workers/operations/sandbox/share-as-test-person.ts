// Grants a share as a test person.
import { toBase64Url } from "../../../core/bytes.ts";
import type { ShareId } from "../../../core/ids.ts";
import { ok, type Result } from "../../../core/result.ts";
import { contactKeys } from "../../../core/shares/fields.ts";
import { computeCodeChallenge } from "../../../core/shares/pkce.ts";
import { findFirstClientId } from "../../../storage/accounts.ts";
import type { SandboxWriteDependencies } from "./dependencies.ts";
import { grantShare } from "../shares/grant-share.ts";
import type { SandboxOwner } from "./get-clock-reading.ts";

/**
 * Shares all fields with the business's first test client. The PKCE verifier is discarded, so the code cannot be redeemed. Returns the same
 * errors as `grantShare`.
 */
export const shareAsTestPerson = async (
  services: SandboxWriteDependencies,
  { business }: SandboxOwner,
  { durationDays, requestId }: { readonly durationDays: number; readonly requestId: string },
): Promise<Result<ShareId>> => {
  const clientId = await findFirstClientId(services.shards.forId(business.id), business.id, "sandbox");
  const granted = await grantShare(
    services,
    { persona: "default" },
    {
      clientId,
      origin: "http://localhost",
      requestEvidence: "api",
      scope: contactKeys,
      purpose: "Try out events",
      disclosureText: null,
      durationDays,
      challenge: computeCodeChallenge(toBase64Url(services.random(32))),
      allowedMissing: contactKeys,
      decisionKey: null,
      language: "en",
      requestId,
    },
  );
  return granted.ok ? ok(granted.value.share.id) : granted;
};
