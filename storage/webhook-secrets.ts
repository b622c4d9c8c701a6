// Seals the signing secret of a webhook endpoint. It cannot be stored as a hash, because it is needed to sign deliveries. SPEC Webhook
// delivery.
import { columnContext, type Vault } from "./vault.ts";

interface SecretOwner {
  readonly endpointId: string;
  readonly businessId: string;
}

const secretContext = columnContext("endpoint", "secret");

export const sealWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, secret: string): Promise<string> =>
  vault.seal(secretContext(endpointId, businessId), secret);

/** Opens a sealed secret. Throws if the secret was sealed for another endpoint or business. */
export const openWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, sealed: string): Promise<string> =>
  vault.open(secretContext(endpointId, businessId), sealed);
