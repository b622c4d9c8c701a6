// The method and actor that are recorded when a signed-in person withdraws consent.

/** The method is `email_code`, because an emailed code or link verified the address when the account was created. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;
