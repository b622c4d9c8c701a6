// An endpoint's signing secret at rest: sealed, because it must be shown again and must sign; bound to its endpoint and its
// business, so that one moved elsewhere does not open.
import type { Vault } from "./vault.ts";

interface SecretOwner {
  readonly endpointId: string;
  readonly businessId: string;
}

const contextOf = ({ endpointId, businessId }: SecretOwner) => ({
  table: "endpoint",
  record: endpointId,
  field: "secret",
  owner: businessId,
});

export const sealSecret = (vault: Vault, owner: SecretOwner, secret: string): Promise<string> => vault.seal(contextOf(owner), secret);

export const openSecret = (vault: Vault, owner: SecretOwner, sealed: string): Promise<string> => vault.open(contextOf(owner), sealed);
