// Dates on which the pack format changed. The time of an audit entry decides which format applies to it. Missing parts do not decide it;
// otherwise, leaving something out would make a pack "older".

/**
 * From this time on, packs hold a signed receipt for each withdrawal from individual recipients, and certificates list how each was made.
 */
export const entityReceiptsSince = "2026-11-22T20:00:00.000Z";

/**
 * From this time on, payloads contain more details. An issuance's payload names the privacy signal and the kind of request. A withdrawal's
 * payload names the time at which the business received it. A policy link's payload names where and when each policy was found. Every link
 * to policies has had an entry since then.
 */
export const boundDetailsSince = "2026-11-27T00:00:00.000Z";
