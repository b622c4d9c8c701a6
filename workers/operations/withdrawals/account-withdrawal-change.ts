// The method and actor that are recorded when a signed-in person withdraws consent.

/** The person verified the email address with a code when they signed in. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;
