// An endpoint's signing secret at rest: sealed, because it must be shown again and must sign; bound to its endpoint and its
// business, so that one moved elsewhere does not open.
import { columnContext, type Vault } from "./vault.ts";

interface SecretOwner {
  readonly endpointId: string;
  readonly businessId: string;
}

const secretContext = columnContext("endpoint", "secret");

export const sealWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, secret: string): Promise<string> =>
  vault.seal(secretContext(endpointId, businessId), secret);

export const openWebhookSecret = (vault: Vault, { endpointId, businessId }: SecretOwner, sealed: string): Promise<string> =>
  vault.open(secretContext(endpointId, businessId), sealed);
