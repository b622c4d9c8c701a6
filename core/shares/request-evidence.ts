// What showed that a share request came from the business that it names. A decision without such evidence is not accepted, because anyone
// can write a link that names a business.

export const requestEvidenceKinds = ["request_signature", "return_url", "referer", "message", "api"] as const;

/**
 * - `request_signature`: the business's API key signed the request.
 * - `return_url`: the request returns to an address that the business registered.
 * - `referer`: the browser came from the origin of the request.
 * - `message`: the page that opened the sheet answered it from the origin of the request.
 * - `api`: the person's own session sent the decision through the API.
 */
export type RequestEvidence = (typeof requestEvidenceKinds)[number];
