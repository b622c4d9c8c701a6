// The public URLs of a certificate. The base URLs come from the settings, never from a request; `apiBase` includes the version.

export const buildReceiptUrl = (apiBase: string, certId: string): string => `${apiBase}/certs/${certId}/receipt`;

/** Returns the URL of the receipt for a withdrawal of consent for individual recipients. */
export const buildEntityReceiptUrl = (apiBase: string, certId: string, number: number): string =>
  `${buildReceiptUrl(apiBase, certId)}?withdrawal=${number}`;

export const buildVerifyUrl = (verifyBase: string, certId: string): string => `${verifyBase}/c/${certId}`;
