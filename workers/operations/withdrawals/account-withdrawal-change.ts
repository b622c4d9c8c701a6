// The method and actor of a withdrawal by a signed-in person.

/** The method is `email_code`, because an emailed code or link verified the address when the account was created. */
export const accountWithdrawalChange = { method: "email_code", recorded: null, actor: { kind: "subject", verifiedBy: "account" } } as const;
