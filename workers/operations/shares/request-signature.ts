// Creates and checks the signature of a share request. The signature proves to the consent sheet that a holder of the business's API key
// made exactly this request. Nothing is stored.
import { hourMs, type Instant } from "../../../core/time.ts";
import type { ReadDependencies, Stores } from "../dependencies.ts";
import type { SheetRequest } from "./sheet-request.ts";

/**
 * The lifetime of a signature, long enough for a person who leaves the business's page open for a while. Once the sheet is open, the
 * sheet's own time limit applies.
 */
export const signatureLifetimeMs = hourMs;

const signaturePattern = /^rs_(\d{1,15})\.([A-Za-z0-9_-]{43})$/;

const toMacPurpose = ({ key }: SheetRequest, issuedAt: string): string => `share request\n${issuedAt}\n${key}`;

/**
 * Creates a signature that covers all parameters of the request, including `return_url`. The caller must first check that the API key
 * belongs to the client's business.
 */
export const createRequestSignature = async (services: Stores, sheet: SheetRequest, issuedAt: Instant): Promise<string> =>
  `rs_${issuedAt}.${await services.vault.linkToken(toMacPurpose(sheet, String(issuedAt)))}`;

/** Returns whether the signature is valid for exactly this request and has not expired. */
export const isSignedRequest = async (services: ReadDependencies, sheet: SheetRequest, signature: string | undefined): Promise<boolean> => {
  const [, issuedAt, mac] = signaturePattern.exec(signature ?? "") ?? [];
  if (issuedAt === undefined || mac === undefined) return false;
  if (!(await services.vault.isLinkToken(toMacPurpose(sheet, issuedAt), mac))) return false;
  return services.clock() < Number(issuedAt) + signatureLifetimeMs;
};
