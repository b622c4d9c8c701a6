// Seals the signing secret of a webhook endpoint. It is sealed rather than hashed because it is needed to sign deliveries. It is bound to
// its endpoint and business, so a value that was moved elsewhere does not open. SPEC Webhook delivery.
import { columnContext, type Vault } from "./vault.ts";

interface SecretOwner {
  readonly endpointId: string;
  readonly businessId: string;
}

const secretContext = columnContext("endpoint", "secret");

export const sealWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, secret: string): Promise<string> =>
  vault.seal(secretContext(endpointId, businessId), secret);

/** Opens the secret. Throws if it was sealed for another endpoint or business. */
export const openWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, sealed: string): Promise<string> =>
  vault.open(secretContext(endpointId, businessId), sealed);
