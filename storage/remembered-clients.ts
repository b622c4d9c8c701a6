// Accounts remembered in this isolate, so that a submission costs one round trip to the database instead of two. Never
// trusted: an insert names the revision it was decided on and fails when that has passed, and a refusal is given only
// after a fresh reading. So there is no staleness to allow for, only a bound on memory.
import type { ClientId } from "../core/ids.ts";
import type { CapturingClient } from "./accounts.ts";

const maxClients = 2_000; // about 1 KiB each

export class RememberedClients {
  readonly #clients = new Map<ClientId, CapturingClient>();

  get(clientId: ClientId): CapturingClient | null {
    return this.#clients.get(clientId) ?? null;
  }

  /** The account remembered longest ago makes room. */
  remember(clientId: ClientId, client: CapturingClient): void {
    this.#clients.delete(clientId);
    this.#clients.set(clientId, client);
    if (this.#clients.size > maxClients) this.#clients.delete(this.#clients.keys().next().value as ClientId);
  }

  forget(clientId: ClientId): void {
    this.#clients.delete(clientId);
  }
}
