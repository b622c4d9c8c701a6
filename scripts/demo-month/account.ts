// The request that starts the replay. It identifies the demo accounts, which the databases already contain.
import type { Environment } from "../../core/access/entitlement.ts";

export interface DemoAccount {
  readonly businessId: string;
  readonly clients: Readonly<Record<Environment, string>>;
  readonly keys: Readonly<Record<Environment, string>>;
  readonly ownerEmail: string;
  readonly consumerEmail: string;
}
