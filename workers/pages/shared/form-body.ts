// Parses the URL-encoded body of a posted form.
import { requestMediaType, readBodyUpTo } from "../../http/body.ts";

const maxFormBytes = 24 * 1_024; // enough for an address, a code or token, and one checkbox for each of 1,000 recipients

/** Returns null if the body is too large, has a different media type or repeats a field. No form on these pages sends such a body. */
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
