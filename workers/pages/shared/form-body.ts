// A form as browsers post it, read once: small, UTF-8, and each field at most once.
import { requestMediaType, readBodyUpTo } from "../../http/body.ts";

const maxFormBytes = 24 * 1_024; // an address, a code or a token, and a tick for each of 1,000 recipients

/** Null for anything that no form of ours sends. */
export const parseFormBody = async (request: Request): Promise<ReadonlyMap<string, string> | null> => {
  const bytes = await readBodyUpTo(request, maxFormBytes);
  if (bytes === null || requestMediaType(request) !== "application/x-www-form-urlencoded") return null;
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes))) {
    if (fields.has(name)) return null;
    fields.set(name, value);
  }
  return fields;
};
