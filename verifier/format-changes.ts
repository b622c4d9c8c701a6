// When the format of packs changed. The time of an audit entry decides which format applies to it. What is missing from a pack does not:
// otherwise leaving something out would make a pack "older".

/** From here on, packs hold a signed receipt for each withdrawal from single recipients, and certificates list how each was made. */
export const entityReceiptsSince = "2026-11-22T20:00:00.000Z";

/**
 * From here on, the payload of the issuance names the privacy signal and the kind of request, that of a withdrawal when the business
 * received it, and that of the policies where and when each was found. Since then every link to policies has an entry.
 */
export const boundDetailsSince = "2026-11-27T00:00:00.000Z";
