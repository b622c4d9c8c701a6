// When and with which random values the storm `chance` runs the tests: moments at which calendars turn, each with a seed of its own.
// Only tests on the runtime and of the rules: browsers and whole services have clocks that no test can move.
const moments = [
  "2026-12-31T23:59:30Z", // the year, the quarter and the half-year's ledger turn
  "2027-01-01T00:00:05Z",
  "2027-01-31T23:59:30Z", // a month of 31 days before one of 28
  "2027-02-28T23:59:30Z", // no leap day
  "2027-03-14T06:59:30Z", // the clocks of New York go forward
  "2027-03-28T00:59:30Z", // those of Europe
  "2027-06-30T23:59:30Z", // the half-year's ledger turns
  "2027-07-04T12:00:00Z", // a Sunday that is a holiday
  "2027-10-31T00:59:30Z", // the clocks of Europe go back
  "2027-11-07T05:59:30Z", // those of New York
  "2027-12-24T23:59:30Z", // a Friday, holidays after it
  "2028-02-28T23:59:30Z", // a leap day comes
  "2028-02-29T12:00:00Z",
  "2028-02-29T23:59:30Z", // and goes
  "2029-09-29T11:59:45Z", // a Saturday
  "2030-03-17T17:46:39Z", // seconds since 1970 get from 1,899,999,999 to 1,900,000,000
  "2033-05-18T03:33:15Z", // and to 2,000,000,000
  "2036-02-07T06:28:10Z", // where clocks of 32 bits from 1900 start again
  "2038-01-19T03:14:00Z", // and those from 1970
  "2027-08-01T00:14:50Z", // a quarter of an hour turns
] as const;

export interface FlakinessRound {
  readonly name: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** Each begins at its moment, however long the rounds before it took. */
export const flakinessRounds: readonly (() => FlakinessRound)[] = moments.map((moment, at) => () => ({
  name: `round ${at + 1} of ${moments.length}, at ${moment}, seed ${at + 1}`,
  settings: { TEST_CLOCK_OFFSET_MS: String(Date.parse(moment) - Date.now()), TEST_SEED: String(at + 1) },
}));
