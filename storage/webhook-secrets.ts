// Seals a webhook endpoint's signing secret. It is sealed rather than hashed because it is needed to sign deliveries. It is bound to its
// endpoint and business, so it cannot be opened for any other endpoint or business. SPEC Webhook delivery.
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
