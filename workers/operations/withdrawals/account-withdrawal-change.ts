// How a withdrawal by the verified owner of an address is recorded.

/** The person verified the email address with a code when they signed in. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;
