// Dates on which the pack format changed. The time of an event determines which format applies, because it must match the audit log. The
// absence of a part must not determine the format: anyone could then remove parts from a pack and make it pass as an older one.

/**
 * From this time on, packs contain a signed receipt for each withdrawal of consent for individual recipients, and certificates list how
 * each withdrawal was made.
 */
export const entityReceiptsSince = "2026-11-22T20:00:00.000Z";

/**
 * From this time on:
 * - The payload of an issuance contains the privacy signal and the capture method.
 * - The payload of a withdrawal contains when the business received the request.
 * - Every link to policies has an audit entry, which says where and when each policy was found.
 */
export const boundDetailsSince = "2026-11-27T00:00:00.000Z";
