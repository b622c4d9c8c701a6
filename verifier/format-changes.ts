// Dates on which the pack format changed. The time of an audit entry determines which format applies to it. Missing parts do not, because
// otherwise anyone could remove parts from a pack and make it pass as an older one.

/**
 * From this time on, packs contain a signed receipt for each withdrawal of consent for individual recipients, and certificates list how
 * each withdrawal was made.
 */
export const entityReceiptsSince = "2026-11-22T20:00:00.000Z";

/**
 * From this time on, payloads contain more details. An issuance's payload states the privacy signal and the kind of request. A withdrawal's
 * payload states when the business received it. A policy link's payload states where and when each policy was found. Since then, every link
 * to policies also has an audit entry.
 */
export const boundDetailsSince = "2026-11-27T00:00:00.000Z";
