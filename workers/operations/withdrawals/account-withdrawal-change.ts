// The method and actor that are recorded if a person withdraws consent from their account.

/** The person verified the email address with a code when they signed in. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;
