// The kinds of evidence that a share request really comes from the business that it names. Anyone can create a link with a business's name,
// so a decision without such evidence is not accepted.

export const requestEvidenceKinds = ["request_signature", "return_url", "referer", "message", "api"] as const;

/**
 * - `request_signature`: the business's API key signed the request.
 * - `return_url`: the request's return URL is registered by the business.
 * - `referer`: the browser came from the origin of the request.
 * - `message`: the page that opened the consent sheet has the origin of the request and replied to the sheet's message.
 * - `api`: the person's own session sent the decision through the API.
 */
export type RequestEvidence = (typeof requestEvidenceKinds)[number];
