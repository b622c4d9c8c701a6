// The rounds of the `flakiness` stress test: dates at calendar boundaries, each with a different random seed. Only core tests and tests
// inside the Workers runtime run in these rounds, because TEST_CLOCK_OFFSET_MS does not reach browsers or services that the tests start.
const moments = [
  "2026-12-31T23:59:30Z", // the end of a year, when the next ledger begins
  "2027-01-01T00:00:05Z",
  "2027-01-31T23:59:30Z", // the end of a month with 31 days, before a month with 28 days
  "2027-02-28T23:59:30Z", // the end of February in a year without a leap day
  "2027-03-14T06:59:30Z", // daylight saving time starts in New York
  "2027-03-28T00:59:30Z", // daylight saving time starts in Europe
  "2027-06-30T23:59:30Z", // the end of a half-year, when the next ledger begins
  "2027-07-04T12:00:00Z", // a holiday on a Sunday
  "2027-10-31T00:59:30Z", // daylight saving time ends in Europe
  "2027-11-07T05:59:30Z", // daylight saving time ends in New York
  "2027-12-24T23:59:30Z", // a Friday before public holidays
  "2028-02-28T23:59:30Z", // the last seconds before a leap day
  "2028-02-29T12:00:00Z",
  "2028-02-29T23:59:30Z", // the end of a leap day
  "2029-09-29T11:59:45Z", // a Saturday
  "2030-03-17T17:46:39Z", // Unix time passes 1,900,000,000
  "2033-05-18T03:33:15Z", // Unix time passes 2,000,000,000
  "2036-02-07T06:28:10Z", // the number of seconds since 1900 exceeds 32 bits
  "2038-01-19T03:14:00Z", // the signed 32-bit Unix time overflows
  "2027-08-01T00:14:50Z", // the end of a 15-minute interval
] as const;

export interface FlakinessRound {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** A round's settings are computed when the round starts, so that its clock begins at the round's date. */
export const flakinessRounds: readonly (() => FlakinessRound)[] = moments.map((moment, at) => () => ({
  name: `round ${at + 1} of ${moments.length}, at ${moment}, seed ${at + 1}`,
  settings: { TEST_CLOCK_OFFSET_MS: String(Date.parse(moment) - Date.now()), TEST_SEED: String(at + 1) },
}));
